import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0027_authors"),
    ]

    operations = [
        migrations.AddField("reproduction", "doing", models.CharField(blank=True, db_default="", max_length=100)),
        migrations.AddField("study", "predictions", models.JSONField(null=True)),
        migrations.CreateModel(
            name="LearningJob",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("error", models.TextField(blank=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("enqueued_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                ("lease_holder", models.CharField(blank=True, max_length=100)),
                ("lease_until", models.DateTimeField(null=True)),
                ("losses", models.PositiveSmallIntegerField(default=0)),
                ("kind", models.CharField(choices=[("corpus", "Corpus"), ("models", "Models")], max_length=10)),
                ("name", models.CharField(max_length=63)),
                ("settings", models.JSONField()),
                ("doing", models.CharField(blank=True, max_length=100)),
                ("author", models.CharField(blank=True, max_length=150)),
                ("lab", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="lab.lab")),
            ],
            options={"indexes": [models.Index(fields=["lab", "-created_at"], name="lab_learnin_lab_id_40671e_idx")]},
        ),
    ]
