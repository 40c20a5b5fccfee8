import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Apart from the one before, since PostgreSQL changes no table with constraints that wait for their check."""

    dependencies = [("accounts", "0007_labs_of_tokens")]

    operations = [
        migrations.AlterField("apitoken", "lab", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="lab.lab")),
    ]
