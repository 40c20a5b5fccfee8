from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0027_authors"),
    ]

    operations = [
        migrations.AddField("reproduction", "doing", models.CharField(blank=True, db_default="", max_length=100)),
        migrations.AddField("study", "predictions", models.JSONField(null=True)),
    ]
