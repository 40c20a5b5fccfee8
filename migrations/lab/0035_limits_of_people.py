from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("lab", "0034_no_days_of_frames_in_labs")]

    operations = [
        migrations.AddField("lab", "person_limits", models.JSONField(default=dict)),
        migrations.AddField("dataset", "author", models.CharField(blank=True, db_default="", default="", max_length=150)),
        migrations.AddIndex(
            "run",
            models.Index(condition=models.Q(deleted_at__isnull=True), fields=["lab", "author", "stored_bytes"], name="bytes_of_people"),
        ),
    ]
