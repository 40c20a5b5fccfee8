"""Corpora and models as files that people take elsewhere and bring back: a ZIP of plain data, checked before it is stored.

Reading one runs no code of the file: models are JSON and arrays of numbers, corpora JSON and Parquet. What it holds is checked in a process
of its own (`learning_checks`).
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from django.conf import settings

from . import cost_models, reading
from .learning_checks import CORPUS, MODELS
from .models import Lab, LearningJob
from .models.work import ACTIVE

FILES = {
    MODELS: re.compile(r"report\.json|[a-z_]{1,40}-\d{1,9}/(model\.json|weights\.npz)"),
    CORPUS: re.compile(r"corpus\.json|balance\.json|part-\d{5}\.parquet"),
}
"""What an archive may hold."""

MANIFEST = "millrace.json"
MANIFEST_BYTES_MAX, JSON_BYTES_MAX = 64 << 10, 16 << 20
FORMAT = 1
BYTES_MAX = 2 << 30
"""Of all files of an archive, unpacked."""

FILES_MAX = 20_000
ENCRYPTED = 0x1
"""Bit of an entry's flags (PKWARE's APPNOTE, 4.4.4)."""

CHUNK_BYTES = 1 << 20

EXISTS = {
    MODELS: "models '{}' already exist; choose another name, or delete them",
    CORPUS: "corpus '{}' already exists; choose another name, or delete it",
}


class Refused(Exception):
    """The archive cannot be stored, or the files cannot be packed; the message says why."""


def packed(folder: Path, kind: str) -> IO[bytes]:
    """The files of a corpus or of models, from the beginning of an open temporary file. Raises Refused."""
    try:
        with ExitStack() as unfinished:
            file = unfinished.enter_context(TemporaryFile(dir=settings.UPLOADS_DIR))
            _pack(file, folder, kind)
            file.seek(0)
            unfinished.pop_all()  # the caller sends it and closes it
            return file
    except OSError as error:
        raise Refused(f"'{folder.name}' cannot be packed: {error.strerror or error}") from None


def _pack(file: IO[bytes], folder: Path, kind: str) -> None:
    # not strict: files may be older than the format allows
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        archive.writestr(MANIFEST, json.dumps({"format": FORMAT, "kind": kind, "name": folder.name}))
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if FILES[kind].fullmatch(name):
                archive.write(path, name, zipfile.ZIP_DEFLATED if path.suffix == ".json" else None)
        if archive.namelist() == [MANIFEST]:
            raise Refused(f"'{folder.name}' has no files to export yet")


def unpack(lab: Lab, file: IO[bytes], kind: str, name: str = "") -> str:
    """Store the content of an archive, under the name that it has or another one. Returns the name. Raises Refused."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _stored(lab, archive, kind, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise Refused(f"the file is no archive of Millrace, or it is damaged ({error})") from None
    except OSError as error:
        raise Refused(f"the archive cannot be stored: {error.strerror or error}") from None


def _stored(lab: Lab, archive: zipfile.ZipFile, kind: str, name: str) -> str:
    entries = _entries(archive)
    own_name = _name_in(archive, kind)
    name = name or own_name
    _check_name(lab, kind, name)
    for entry in entries:  # a pattern leaves no name that leads out of the folder
        if not FILES[kind].fullmatch(entry.filename):
            raise Refused(f"the archive holds '{entry.filename[:100]}', which is no part of {kind}")
    place = cost_models.place_of(kind, lab.home)
    cost_models.purge(place)
    place.mkdir(parents=True, exist_ok=True)
    folder = place / f"{cost_models.IMPORTING}{uuid.uuid4().hex}"
    try:
        for entry in entries:
            target = folder / entry.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
        if why := reading.why_unfit(folder, kind):
            raise Refused(why)
        folder.rename(place / name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return name


def _check_name(lab: Lab, kind: str, name: str) -> None:
    """Raises Refused if nothing can be stored under this name."""
    what = "models" if kind == MODELS else "corpus"
    if not re.fullmatch(cost_models.NAME, name):
        raise Refused(f"name is '{name}'; it must be lower-case letters, digits, '-' and '_', at most 63")
    if LearningJob.objects.filter(lab=lab, kind=kind, name=name, state__in=ACTIVE).exists():
        raise Refused(f"a job for {what} '{name}' is in progress; choose another name, or cancel the job")
    known = cost_models.models(lab.home, name) if kind == MODELS else None
    if known is not None and known.shipped:
        raise Refused(f"models '{name}' come with Millrace; choose another name")
    if (cost_models.place_of(kind, lab.home) / name).exists():
        raise Refused(EXISTS[kind].format(name))


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """All files but the manifest. Raises Refused if they cannot be read, or not safely."""
    found = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(found) > FILES_MAX or sum(entry.file_size for entry in found) > BYTES_MAX:
        raise Refused(f"the archive is too large; it may hold {FILES_MAX:,} files and {BYTES_MAX >> 30} GiB")
    for entry in found:
        if entry.flag_bits & ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused(f"'{entry.filename[:100]}' is encrypted, or compressed in a way that is not read; export it again")
        bytes_max = MANIFEST_BYTES_MAX if entry.filename == MANIFEST else JSON_BYTES_MAX
        if entry.filename.endswith(".json") and entry.file_size > bytes_max:
            raise Refused(f"{entry.filename[:100]} has {entry.file_size:,} bytes; it may have {bytes_max:,}")
    return [entry for entry in found if entry.filename != MANIFEST]


def _name_in(archive: zipfile.ZipFile, kind: str) -> str:
    """The name of what was exported. Raises Refused if it is of another kind."""
    try:
        manifest = json.loads(archive.read(MANIFEST))
        given = (manifest["format"], manifest["kind"])
    except (KeyError, ValueError, TypeError, RecursionError):
        raise Refused(f"the file has no {MANIFEST}, so it is no export of Millrace") from None
    if given != (FORMAT, kind):
        raise Refused(f"the file holds {given[1]} of format {given[0]}, not {kind} of format {FORMAT}")
    return str(manifest.get("name", ""))
