"""An experiment's query as a program of PySpark with its input, in one ZIP."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import IO

from engine.export import write
from engine.spec import Experiment
from engine.spec.rules.validation import Context

RECORDS_MAX = 1_000_000
"""They are made while somebody waits; `manage.py export` has no limit."""


def packed(experiment: Experiment, context: Context) -> IO[bytes]:
    """The ZIP, open at its beginning. Raises NotExported, TooManyRecords, OSError."""
    with tempfile.TemporaryDirectory() as directory:
        made = Path(directory) / "query"
        write(experiment, made, context, records_max=RECORDS_MAX)
        file = tempfile.TemporaryFile()  # noqa: SIM115 the answer closes it
        try:
            with zipfile.ZipFile(file, "w") as archive:  # Parquet is compressed already
                for path in sorted(path for path in made.rglob("*") if path.is_file()):
                    archive.write(path, Path("query") / path.relative_to(made))
        except OSError:
            file.close()
            raise
    file.seek(0)
    return file
