from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0025_compiling"),
    ]

    operations = [
        migrations.AddField("dataset", "reading", models.JSONField(null=True)),
        migrations.AddField("dataset", "counts", models.JSONField(null=True)),
        migrations.AddField("dataset", "hash", models.CharField(max_length=64, default="", db_default="")),
    ]
