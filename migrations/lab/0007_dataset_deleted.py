from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0006_forks"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="dataset",
            name="one_dataset_of_a_name",
        ),
        migrations.AddField(
            model_name="dataset",
            name="deleted_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name="dataset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("deleted_at__isnull", True)), fields=("lab", "name"), name="one_dataset_of_a_name"
            ),
        ),
    ]
