from django.db import migrations


def tell_apart(apps, schema_editor):
    """Results of which nothing could be judged were kept as not reproduced."""
    Result = apps.get_model("lab", "FigureResult")
    for result in Result.objects.filter(status="not reproduced").only("assertions").iterator():
        if all(assertion["state"] == "not evaluated" for assertion in result.assertions):
            Result.objects.filter(pk=result.pk).update(status="not evaluated")


def put_back(apps, schema_editor):
    apps.get_model("lab", "FigureResult").objects.filter(status="not evaluated").update(status="not reproduced")


class Migration(migrations.Migration):
    dependencies = [
        ("lab", "0019_share_of_trials"),
    ]

    operations = [
        migrations.RunPython(tell_apart, put_back),
    ]
