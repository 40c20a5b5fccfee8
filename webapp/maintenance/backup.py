"""Backup of an installation in one file: rows as JSON, model by model, and the files of runs, data sets, corpora and cost models.

The rows are a consistent snapshot, even while the lab is running, and independent of the database: a backup from SQLite can be restored
into PostgreSQL. Work in progress is written as queued work, a run without its files; a worker later repeats it with the same result.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from webapp.lab.cost_models import corpora_place, homes, models_place
from webapp.lab.models import Run, Work
from webapp.lab.models.work import ACTIVE, RunState, is_active
from webapp.lib.file_sizes import finished_files
from webapp.lib.migrated import is_migrated
from webapp.lib.version import VERSION

FORMAT = 1
MANIFEST, ROWS, FILES = "manifest.json", "rows.jsonl", "files"
LEFT_OUT = {"auth.permission", "auth.group", "auth.group_permissions", "auth.user_groups", "auth.user_user_permissions"}
LEFT_OUT_APPS = {"contenttypes", "sessions"}
"""Unused here, or created by every installation; people must sign in again."""

ROWS_TOGETHER = 500


class Unfit(Exception):
    """The file cannot be restored here; the message says why."""


def back_up(file: Path) -> dict[str, int]:
    """Write a backup that only its owner may read. Returns the number of rows per model. Raises OSError."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as target, tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as archive:
            with one_moment(), (part.with_suffix(".rows")).open("w+b") as rows:
                counts = write_rows(rows)
                under_way = {str(id) for id in Run.objects.filter(is_active()).values_list("pk", flat=True)}
                about = {"format": FORMAT, "version": VERSION, "migrations": migrations(), "rows": counts}
                add(archive, MANIFEST, json.dumps({**about, "made_at": timezone.now().isoformat()}).encode())
                add_stream(archive, ROWS, rows)
            for path in files(under_way):
                with suppress(FileNotFoundError):  # frames were removed, or a partial file was renamed, in the meantime
                    archive.add(path, f"{FILES}/{path.relative_to(settings.DATA_DIR)}", recursive=False)
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)
        part.with_suffix(".rows").unlink(missing_ok=True)
    return counts


def restore(file: Path) -> dict[str, int]:
    """Restore a backup into an empty installation. Returns as `back_up`. Raises Unfit, with nothing stored, and OSError."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            about = manifest_of(archive)
            check_fits(about)
            with transaction.atomic():
                counts = read_rows(archive)
                if counts != about["rows"]:
                    raise Unfit("rows are missing from the file; it is truncated")
                reset_sequences()
                for member in archive:
                    if member.isfile() and member.name.startswith(f"{FILES}/"):
                        extract(archive, member)
            return counts
    except (tarfile.TarError, zlib.error, EOFError, LookupError, FieldDoesNotExist, ValueError) as error:
        raise Unfit(f"{file} is not a Millrace backup, or is damaged: {error}") from None


def extract(archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    """Write a file of the backup to its place. Not with tarfile's filters, which Python has from 3.11.4 on. Raises ValueError for a place
    outside the data directory."""
    data = Path(settings.DATA_DIR).resolve()
    target = (data / member.name.removeprefix(f"{FILES}/")).resolve()
    if not target.is_relative_to(data):
        raise ValueError(f"{member.name} is a place outside the data directory")
    target.parent.mkdir(parents=True, exist_ok=True)
    stream = archive.extractfile(member)
    assert stream is not None
    with stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file)
    os.utime(target, (member.mtime, member.mtime))


# --- rows ---------------------------------------------------------------------------------------------------------------------------------


def kept_models() -> list[type[models.Model]]:
    """Return the models to back up, including tables of many-to-many relations."""
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.label_lower not in LEFT_OUT and model._meta.app_label not in LEFT_OUT_APPS]


def write_rows(stream: IO[bytes]) -> dict[str, int]:
    """Write one line per model with its columns, followed by one line per row."""
    counts = {}
    for model in kept_models():
        columns = [field.attname for field in model._meta.concrete_fields]
        counts[model._meta.label_lower] = 0
        stream.write(line({"model": model._meta.label_lower, "columns": columns}))
        for row in model._base_manager.order_by("pk").values(*columns).iterator(ROWS_TOGETHER):
            stream.write(line(list(at_rest(model, row).values())))
            counts[model._meta.label_lower] += 1
    return counts


def at_rest(model: type[models.Model], row: dict[str, Any]) -> dict[str, Any]:
    """Return work in progress as queued work. A run starts again, since its files are left out, and pauses where it did."""
    if not issubclass(model, Work) or row["state"] not in ACTIVE:
        return row
    free = {"lease_holder": "", "lease_until": None, "enqueued_at": None, "losses": 0}
    if model is Run:
        return {**row, **free, "state": RunState.QUEUED.value, "t_ns": 0, "frames": 0, "summary": None, "paused_at": None}
    return {**row, **free, "state": RunState.QUEUED.value if row["lease_holder"] else row["state"]}


def read_rows(archive: tarfile.TarFile) -> dict[str, int]:
    counts: dict[str, int] = {}
    stream = archive.extractfile(ROWS)
    assert stream is not None
    model: type[models.Model] | None = None
    fields: list[Any] = []
    waiting: list[models.Model] = []
    for text in stream:
        told = json.loads(text)
        if isinstance(told, dict):
            insert(model, fields, waiting)
            model, waiting = apps.get_model(told["model"]), []
            fields = [model._meta.get_field(name) for name in told["columns"]]
            counts[told["model"]] = 0
            continue
        assert model is not None
        waiting.append(model(**{field.attname: field.to_python(value) for field, value in zip(fields, told, strict=True)}))
        counts[model._meta.label_lower] += 1
        if len(waiting) >= ROWS_TOGETHER:
            insert(model, fields, waiting)
            waiting = []
    insert(model, fields, waiting)
    return counts


def insert(model: type[models.Model] | None, fields: list[Any], rows: list[models.Model]) -> None:
    """Insert rows unchanged, including their creation times."""
    together = connection.ops.bulk_batch_size(fields, rows) if rows else 1
    for at in range(0, len(rows), together):
        assert model is not None
        model._base_manager._insert(rows[at : at + together], fields=fields, using=connection.alias, raw=True)


def reset_sequences() -> None:
    """Advance the database's sequences past the restored ids."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), kept_models()):
            cursor.execute(statement)


@contextmanager
def one_moment() -> Iterator[None]:
    """Read transaction: all reads see one snapshot, and writers do not wait."""
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if connection.vendor == "postgresql" else "BEGIN DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def line(value: Any) -> bytes:
    return json.dumps(value, default=text_of, separators=(",", ":")).encode() + b"\n"


def text_of(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"no column holds a {type(value).__name__}")


# --- files --------------------------------------------------------------------------------------------------------------------------------


def folders() -> list[Path]:
    """Return the directories to back up."""
    learned = [place(home) for home in homes() for place in (corpora_place, models_place)]
    return [settings.DATASETS_DIR, settings.RUNS_DIR, settings.ANALYSIS_DIR / "answers", *learned]


def files(under_way: set[str]) -> Iterable[Path]:
    """Yield the files to back up. Left out: partial and hidden files (hidden ones are temporary or deleted), runs in progress, and
    snapshots, which only runs in progress need. A corpus in progress is kept as far as it was measured; its job goes on from there."""
    for folder in folders():
        for path in finished_files(folder):
            parts = path.relative_to(folder).parts
            run, *below = parts
            unneeded = folder == settings.RUNS_DIR and (run in under_way or below in ([], [Run.SNAPSHOT]))
            if not unneeded and not any(part.startswith(".") for part in parts):
                yield path


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    add_stream(archive, name, io.BytesIO(content))


def add_stream(archive: tarfile.TarFile, name: str, stream: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime = stream.seek(0, os.SEEK_END), int(timezone.now().timestamp())
    stream.seek(0)
    archive.addfile(member, stream)


# --- does it fit? -------------------------------------------------------------------------------------------------------------------------


def migrations() -> list[str]:
    """Return the migrations of this version of Millrace."""
    return sorted(".".join(key) for key in MigrationLoader(None).disk_migrations)


def manifest_of(archive: tarfile.TarFile) -> dict[str, Any]:
    stream = archive.extractfile(MANIFEST)
    assert stream is not None
    about: dict[str, Any] = json.loads(stream.read())
    if about["format"] != FORMAT:
        raise Unfit(
            f"the backup has format {about['format']}, but this version of Millrace reads format {FORMAT}; use the version that made it"
        )
    return about


def check_fits(about: dict[str, Any]) -> None:
    """Check that the backup has the same tables and that the installation is empty. Raises Unfit."""
    if set(about["migrations"]) != set(migrations()):
        raise Unfit(f"the backup was made by another version ({about['version']}) with other tables; restore it with that one, then update")
    if not is_migrated():
        raise Unfit("the database is not up to date; run: python manage.py migrate")
    for model in kept_models():
        if model._base_manager.exists():
            raise Unfit(f"the database is not empty ({model._meta.verbose_name_plural}); restore into an empty one")
    for folder in folders():
        if any(names for _, _, names in os.walk(folder)):
            raise Unfit(f"{folder} is not empty; restore into an empty data directory (MILLRACE_DATA)")
