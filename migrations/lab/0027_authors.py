from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0026_readings"),
    ]

    operations = [
        migrations.AddField(name, "author", models.CharField(blank=True, db_default="", max_length=150)) for name in ("run", "study")
    ]
