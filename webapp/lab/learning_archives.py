"""Corpora and models as files that people take elsewhere and bring back: a ZIP of plain data, checked before anything of it counts.

Reading one runs no code of the file: models are JSON and arrays of numbers, corpora JSON and Parquet.
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from engine.costmodels.storage import BrokenModel, load_all

from . import cost_models

MODELS, CORPUS = "models", "corpus"
FILES = {
    MODELS: re.compile(r"report\.json|[a-z_]{1,40}-\d{1,9}/(model\.json|weights\.npz)"),
    CORPUS: re.compile(r"corpus\.json|balance\.json|part-\d{5}\.parquet"),
}
"""What an archive may hold."""

MANIFEST = "millrace.json"
FORMAT = 1
BYTES_MAX = 2 << 30
"""Of all files of an archive, unpacked."""

FILES_MAX = 20_000
ENCRYPTED = 0x1
"""Bit of an entry's flags (PKWARE's APPNOTE, 4.4.4)."""

PARQUET = b"PAR1"
"""With it each file of the format begins and ends."""

CHUNK_BYTES = 1 << 20


class Refused(ValueError):
    """The archive cannot be taken in; the message says why."""


def packed(folder: Path, kind: str) -> IO[bytes]:
    """The files of a corpus or of models, from the beginning of an open temporary file."""
    file = TemporaryFile()  # noqa: SIM115 the caller sends it and closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, json.dumps({"format": FORMAT, "kind": kind, "name": folder.name}))
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if FILES[kind].fullmatch(name):
                archive.write(path, name)
    file.seek(0)
    return file


def unpack(file: IO[bytes], kind: str, name: str = "") -> str:
    """Take in an archive, under the name that it has or another one. Returns the name. Raises Refused."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _taken_in(archive, kind, name)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise Refused(f"the file is no archive of Millrace, or it is damaged ({error})") from None


def _taken_in(archive: zipfile.ZipFile, kind: str, name: str) -> str:
    for entry in archive.infolist():
        if entry.flag_bits & ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused(f"'{entry.filename[:100]}' is encrypted, or compressed in a way that is not read; export it again")
    name = name or _name_in(archive, kind)
    if not re.fullmatch(cost_models.NAME, name):
        raise Refused(f"name is '{name}'; it must be lower-case letters, digits, '-' and '_', at most 63")
    place = cost_models.place_of(kind)
    if (place / name).exists():
        raise Refused(f"there is already something of the name '{name}'; give another one, or delete it first")
    entries = list(_entries(archive, kind))
    place.mkdir(parents=True, exist_ok=True)
    folder = place / f".importing-{uuid.uuid4().hex}"
    try:
        for entry in entries:
            target = folder / entry.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
        _check(folder, kind)
        folder.rename(place / name)
    except OSError as error:
        raise Refused(f"it cannot be stored: {error.strerror or error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return name


def _name_in(archive: zipfile.ZipFile, kind: str) -> str:
    try:
        manifest = json.loads(archive.read(MANIFEST))
        given = (manifest["format"], manifest["kind"])
    except (KeyError, ValueError, TypeError):
        raise Refused(f"the file has no {MANIFEST}, so it is no export of Millrace") from None
    if given != (FORMAT, kind):
        raise Refused(f"the file holds {given[1]} of format {given[0]}, not {kind} of format {FORMAT}")
    return str(manifest.get("name", ""))


def _entries(archive: zipfile.ZipFile, kind: str) -> Iterator[zipfile.ZipInfo]:
    """The files that are taken. Names are compared with a pattern, so none leads out of the folder."""
    found = [entry for entry in archive.infolist() if entry.filename != MANIFEST and not entry.is_dir()]
    if len(found) > FILES_MAX or sum(entry.file_size for entry in found) > BYTES_MAX:
        raise Refused(f"the archive is too large; it may hold {FILES_MAX:,} files and {BYTES_MAX >> 30} GiB")
    for entry in found:
        if not FILES[kind].fullmatch(entry.filename):
            raise Refused(f"the archive holds '{entry.filename[:100]}', which is no part of {kind}")
        yield entry


def _check(folder: Path, kind: str) -> None:
    """Raises Refused."""
    if kind == MODELS:
        if not folder.is_dir():
            raise Refused("the archive holds no model")
        try:
            found = load_all(folder)
        except BrokenModel as error:
            raise Refused(str(error).replace(folder.name, "the archive")) from None
        if not found:
            raise Refused("the archive holds no model")
        return
    if cost_models.corpus_in(folder) is None:
        raise Refused("corpus.json is missing or is no card of a corpus")
    for part in sorted(folder.glob("part-*.parquet")):
        with part.open("rb") as file:
            begins = file.read(len(PARQUET))
            file.seek(-min(len(PARQUET), part.stat().st_size), 2)
            if begins != PARQUET or file.read() != PARQUET:
                raise Refused(f"{part.name} is torn; export the corpus again")
