from django.db import migrations


def make_rules(apps, schema_editor):
    rule = apps.get_model("lab", "RetentionRule")
    for lab in apps.get_model("lab", "Lab").objects.exclude(keep_frames_days=None):
        rule.objects.create(lab=lab, what="frames", days=lab.keep_frames_days)


class Migration(migrations.Migration):

    dependencies = [("lab", "0032_retention_rules")]

    operations = [migrations.RunPython(make_rules, migrations.RunPython.noop)]
