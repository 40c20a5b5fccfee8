from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0024_versions"),
    ]

    operations = [
        migrations.AddField("run", "compiling", models.BooleanField(default=False, db_default=False)),
    ]
