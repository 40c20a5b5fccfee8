from django.db import migrations

from webapp.accounts.sessions import HASH_BYTES, stored


def hash_keys(apps, schema_editor):
    """People stay signed in: the keys in their cookies are those that are hashed here."""
    sessions = apps.get_model("sessions", "Session").objects
    for key in list(sessions.values_list("session_key", flat=True)):
        if len(key) != 2 * HASH_BYTES:
            sessions.filter(session_key=key).update(session_key=stored(key))


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0004_log"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunPython(hash_keys, migrations.RunPython.noop)]
