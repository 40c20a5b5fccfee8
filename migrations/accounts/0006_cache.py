from django.core.management import call_command
from django.db import migrations


def create_table(apps, schema_editor):
    """Of counts that all web processes share, such as those of failed sign-ins."""
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):

    dependencies = [("accounts", "0005_session_keys")]

    operations = [migrations.RunPython(create_table, migrations.RunPython.noop)]
