from django.db import migrations, models

import webapp.lab.models.people


class Migration(migrations.Migration):

    dependencies = [("lab", "0030_kept_answers")]

    operations = [
        # Labs that were there before shared the data directory, and keep it.
        migrations.AddField("lab", "folder", models.CharField(default="", max_length=60)),
        migrations.AlterField("lab", "folder", models.CharField(default=webapp.lab.models.people.new_folder, max_length=60)),
    ]
