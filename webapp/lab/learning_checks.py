"""Whether files are models or a corpus. It needs no Django and no database, so that it can run in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from engine.corpus.corpora import BALANCE, CARD, Corpus
from engine.corpus.rows import SCHEMA
from engine.costmodels.storage import DESCRIPTION, REPORT, BrokenModel, described, load

from . import learning_files
from .learning_files import Unfit

MODELS, CORPUS = "models", "corpus"
WEIGHTS_MAX = 1 << 27
"""Of all models of an archive. Weights are compressed inside of their files, so the size of an archive does not limit them."""


class Refused(Exception):
    """The files cannot be stored; the message says why."""


def why_unfit(folder: str, kind: str) -> str:
    """Why the files of a folder are no models or no corpus, or an empty text."""
    try:
        _check_models(Path(folder)) if kind == MODELS else _check_corpus(Path(folder))
    except (Refused, Unfit, BrokenModel) as error:
        return str(error)
    return ""


def _check_models(folder: Path) -> None:
    """Raises Refused, Unfit, BrokenModel."""
    found = sorted(file.parent for file in folder.glob(f"*/{DESCRIPTION}"))
    if not found:
        raise Refused("the archive holds no model")
    weights = 0
    for directory in found:
        weights += described(directory).weights
        if weights > WEIGHTS_MAX:
            raise Refused(f"the models have more than {WEIGHTS_MAX:,} weights; import fewer of them, or narrower ones")
        stored = load(directory)
        learning_files.fitted(f"{directory.name}, facts", stored.facts, learning_files.FACTS_SHAPE)
        learning_files.fitted(f"{directory.name}, epochs", stored.epochs, learning_files.EPOCHS_SHAPE)
    if (folder / REPORT).exists():
        learning_files.read(folder / REPORT, learning_files.REPORT_SHAPE)


def _check_corpus(folder: Path) -> None:
    """Raises Refused, Unfit."""
    try:
        corpus = Corpus(**learning_files.read(folder / CARD, learning_files.CARD_SHAPE))
    except Unfit as error:
        raise Refused(f"{CARD} is missing or is not a valid corpus description ({error})") from None
    if (folder / BALANCE).exists():
        learning_files.read(folder / BALANCE, learning_files.BALANCE_SHAPE)
    for part in sorted(folder.glob("part-*.parquet")):
        traces = len(corpus.indexes(int(part.stem.removeprefix("part-"))))
        try:
            metadata = parquet.read_metadata(part)
        except (OSError, pa.ArrowException):
            raise Refused(f"{part.name} is torn; export the corpus again") from None
        if not metadata.schema.to_arrow_schema().equals(SCHEMA):
            raise Refused(f"{part.name} has other columns than corpora of this version; make the corpus again")
        if not traces or metadata.num_rows != traces:
            raise Refused(f"{part.name} has {metadata.num_rows:,} traces, not {traces:,}; export the corpus again")
