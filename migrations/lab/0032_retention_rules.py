import django.db.models.deletion
from django.db import migrations, models

WHAT = models.CharField(choices=[("frames", "Frames"), ("runs", "Runs"), ("datasets", "Datasets")], max_length=10)


def key(to, name, **more):
    return models.ForeignKey(to=to, on_delete=django.db.models.deletion.CASCADE, related_name=name, **more)


class Migration(migrations.Migration):

    dependencies = [("lab", "0031_folders_of_labs")]

    operations = [
        migrations.CreateModel(
            "RetentionRule",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", WHAT),
                ("days", models.PositiveIntegerField(null=True)),
                ("bytes", models.BigIntegerField(null=True)),
                ("kept_tags", models.JSONField(null=True)),
                ("paused", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("lab", key("lab.lab", "retention_rules")),
            ],
        ),
        migrations.CreateModel(
            "Removal",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", WHAT.clone()),
                ("day", models.DateField()),
                ("at", models.DateTimeField()),
                ("count", models.PositiveIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("undone_at", models.DateTimeField(null=True)),
                ("final_at", models.DateTimeField(null=True)),
                ("datasets", models.ManyToManyField(related_name="removals", to="lab.dataset")),
                ("lab", key("lab.lab", "removals")),
                ("runs", models.ManyToManyField(related_name="removals", to="lab.run")),
                (
                    "rule",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="removals", to="lab.retentionrule"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "retentionrule",
            models.CheckConstraint(condition=models.Q(days__isnull=True) ^ models.Q(bytes__isnull=True), name="days_or_bytes_of_a_rule"),
        ),
        migrations.AddIndex("removal", models.Index(fields=["lab", "-at"], name="removals_of_a_lab")),
        migrations.AddConstraint(
            "removal",
            models.UniqueConstraint(condition=models.Q(undone_at=None), fields=("rule", "day"), name="one_removal_a_day"),
        ),
    ]
