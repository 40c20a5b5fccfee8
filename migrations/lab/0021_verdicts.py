from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("lab", "0020_not_evaluated")]

    operations = [
        migrations.AddField(model_name="run", name="verdicts", field=models.JSONField(null=True)),
        migrations.AddField(model_name="run", name="judged", field=models.CharField(blank=True, db_default="", max_length=20)),
    ]
