from django.db import migrations, models

from engine.spec import Experiment, upgrade


def fill(apps, schema_editor):
    """The setups of the runs that there are. What this version cannot read any more has none, and stands for itself."""
    Run = apps.get_model("lab", "Run")
    for id, document in Run.objects.values_list("pk", "document").iterator():
        try:
            setup = Experiment.model_validate(upgrade(document)).setup_hash
        except ValueError:
            continue
        Run.objects.filter(pk=id).update(setup=setup)


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0011_fields"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="setup",
            field=models.CharField(blank=True, db_index=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
