import django.db.models.deletion
from django.db import migrations, models


def name_labs(apps, schema_editor):
    """A token saw the lab that its person had joined first. Those of people who have left saw none; the first lab keeps them."""
    membership, token = apps.get_model("lab", "Membership"), apps.get_model("accounts", "ApiToken")
    first = apps.get_model("lab", "Lab").objects.order_by("pk").first()
    for user in token.objects.order_by().values_list("user", flat=True).distinct():
        joined = membership.objects.filter(user=user).order_by("pk").first()
        token.objects.filter(user=user).update(lab_id=joined.lab_id if joined else first.pk)


class Migration(migrations.Migration):

    dependencies = [("accounts", "0006_cache"), ("lab", "0031_folders_of_labs")]

    operations = [
        migrations.AddField("apitoken", "lab", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="lab.lab")),
        migrations.AddField("signintoken", "lab", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="lab.lab")),
        migrations.RunPython(name_labs, migrations.RunPython.noop),
    ]
