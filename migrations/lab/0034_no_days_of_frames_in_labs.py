from django.db import migrations


class Migration(migrations.Migration):
    """Apart from the one before, since PostgreSQL changes no table with constraints that wait for their check."""

    dependencies = [("lab", "0033_days_of_frames_are_a_rule")]

    operations = [migrations.RemoveField("lab", "keep_frames_days")]
