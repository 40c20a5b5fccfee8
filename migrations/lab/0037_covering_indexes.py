from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from webapp.lib.covering_index import CoveringIndex

COVERING = {
    "run": [
        CoveringIndex(
            fields=["lab", "number"],
            include=["id", "study", "state", "experiment", "seed"],
            on_sqlite=[
                "deleted_at", "name", "author", "started_at", "finished_at", "judged", "hash", "digest", "setup", "engine_version",
                "stored_bytes",
            ],
            condition=models.Q(deleted_at__isnull=True),
            name="listed_runs",
        )
    ],
    "runparameter": [
        CoveringIndex(fields=["name", "number"], include=["run"], condition=models.Q(number__isnull=False), name="runs_by_number"),
        CoveringIndex(
            fields=["name", "text"], include=["run"], on_sqlite=["number"], condition=models.Q(number__isnull=True), name="runs_by_text"
        ),
    ],
    "runsummary": [CoveringIndex(fields=["metric", "value"], include=["run"], name="runs_by_metric")],
}  # fmt: skip


def make(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Only where the indexes differ: PostgreSQL has them as they should be."""
    _replace(apps, schema_editor, lambda index: index)


def unmake(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _replace(apps, schema_editor, lambda index: models.Index(fields=index.fields, condition=index.condition, name=index.name))


def _replace(apps, schema_editor, made):
    if schema_editor.connection.features.supports_covering_indexes:
        return
    for model_name, indexes in COVERING.items():
        model = apps.get_model("lab", model_name)
        for index in indexes:
            schema_editor.remove_index(model, index)
            schema_editor.add_index(model, made(index))


class Migration(migrations.Migration):
    dependencies = [("lab", "0036_calibrations")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(make, unmake)],
            state_operations=[
                operation
                for model_name, indexes in COVERING.items()
                for index in indexes
                for operation in (migrations.RemoveIndex(model_name, index.name), migrations.AddIndex(model_name, index))
            ],
        )
    ]
