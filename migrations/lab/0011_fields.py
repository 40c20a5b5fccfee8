from django.db import migrations, models


def fill(apps, schema_editor):
    """The names of the numbers that there are."""
    Summary, Name = apps.get_model("lab", "RunSummary"), apps.get_model("lab", "FieldName")
    named = Summary.objects.order_by().values_list("run__lab_id", "metric").distinct()
    Name.objects.bulk_create([Name(lab_id=lab, name=name) for lab, name in named], ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0010_figures_by_studies"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="parametername", name="one_parameter_of_a_name"),
        migrations.RenameModel("ParameterName", "FieldName"),
        migrations.AddConstraint(
            model_name="fieldname",
            constraint=models.UniqueConstraint(fields=("lab", "name"), name="one_field_of_a_name"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
