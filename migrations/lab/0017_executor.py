from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("lab", "0016_run_indexes")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="executor",
            field=models.CharField(
                choices=[("workers", "Workers"), ("spark", "Spark")], db_default="workers", default="workers", max_length=10
            ),
        ),
    ]
