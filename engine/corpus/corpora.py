"""Corpora: rows of many traces in Parquet files of so many traces each (docs/learned-placement.md).

A part is a pure function of the corpus and its number. So any number of processes may make parts, in any order and again, and the files
come out the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from engine.core.random import Chance
from engine.costmodels import sampling

from .benchmarks import BENCHMARKS
from .experiments import Document, ids_of, on_changed_engine
from .fingerprint import fingerprint
from .labels import Failure, Labels, horizon_s, measured, run
from .rows import SCHEMA, Row
from .selectivities import estimated
from .traces import CHANGED_ENGINE, DRAWS, Trace, trace

PART = 50
"""Traces in a file, unless a corpus says otherwise: other divisions give other files."""

NAMES = (*DRAWS, *BENCHMARKS)
"""Of all draws."""

TRACES: Mapping[str, int] = {"smoke": 400, "dev": 4000, "paper": 43_281}
"""By scale."""

CARD, BALANCE = "corpus.json", "balance.json"
"""What a corpus is, and, once it is whole, how its labels are spread."""


class CorpusError(ValueError):
    """A corpus cannot be made or read; the message says why and what to do."""


@dataclass(frozen=True)
class Corpus:
    """draw: which queries and hosts (`engine.corpus.traces.DRAWS`); its name is part of the seed. measured_by: fingerprint of the engine's
    prices and rules that labels follow from. per_part: traces in a file."""

    draw: str
    seed: int
    traces: int
    measured_by: str
    per_part: int = PART

    @classmethod
    def of(cls, draw: str, seed: int, traces: int) -> Corpus:
        """Of this engine. Raises CorpusError."""
        if draw not in NAMES:
            raise CorpusError(f"draw is '{draw}'; it must be one of {', '.join(NAMES)}")
        if not 1 <= traces <= 10_000_000:
            raise CorpusError(f"traces is {traces}; it must be from 1 to 10,000,000")
        return cls(draw, seed, traces, fingerprint(draw))

    @property
    def parts(self) -> int:
        return -(-self.traces // self.per_part)

    def indexes(self, part: int) -> range:
        return range(part * self.per_part, min((part + 1) * self.per_part, self.traces))

    def row(self, index: int) -> Row:
        """Draws a trace and measures it."""
        if self.draw in BENCHMARKS:
            found = BENCHMARKS[self.draw].drawn(self.draw, self.seed, index)
            return _row(index, found.trace, found.ids, found.selectivities, found.document)
        drawn = trace(self.draw, self.seed, index)
        selectivities = estimated(drawn.query, self.seed, self.draw, index)
        return _row(index, drawn, ids_of(drawn.query), selectivities, self.document(index))

    def document(self, index: int) -> Document:
        """The experiment that is run for a trace: on the canvas it gives the same labels."""
        if self.draw in BENCHMARKS:
            return BENCHMARKS[self.draw].drawn(self.draw, self.seed, index).document
        drawn = trace(self.draw, self.seed, index)
        stream_seed = Chance(self.seed, self.draw, "streams", index).below(1 << 31)
        document = measured(drawn, stream_seed, horizon_s(drawn.query))
        return on_changed_engine(document) if self.draw == CHANGED_ENGINE else document

    def missing(self, directory: Path) -> list[int]:
        """Parts whose file is not there, or cannot be read."""
        return [part for part in range(self.parts) if not self._is_whole(directory, part)]

    def _is_whole(self, directory: Path, part: int) -> bool:
        try:
            return bool(parquet.read_metadata(file_of(directory, part)).num_rows == len(self.indexes(part)))
        except (OSError, pa.ArrowException):
            return False


def _row(index: int, drawn: Trace, ids: Sequence[str], selectivities: tuple[float, ...], document: Document) -> Row:
    found = run(document)
    counted = sampling.counted(drawn.query, [found.sent_per_s[id] for id in ids])
    return Row(index, drawn, selectivities, found.labels, counted)


def file_of(directory: Path, part: int) -> Path:
    return directory / f"part-{part:05d}.parquet"


def start(directory: Path, corpus: Corpus) -> list[int]:
    """Prepare the directory; returns the parts that are not there yet, or torn. Raises CorpusError if it holds another corpus."""
    directory.mkdir(parents=True, exist_ok=True)
    card = directory / CARD
    if card.exists():
        kept = opened(directory)
        if kept != corpus:
            differs = next(name for name, value in asdict(corpus).items() if asdict(kept)[name] != value)
            how = f"begun with {differs} {asdict(kept)[differs]}, not {asdict(corpus)[differs]}"
            if differs == "measured_by":
                how = "measured by another version of the engine or of its prices"
            raise CorpusError(f"{directory.name} was {how}; choose another name, or delete it")
    else:
        write(card, json.dumps(asdict(corpus), indent=2).encode())
    return corpus.missing(directory)


def opened(directory: Path) -> Corpus:
    """The corpus in a directory, whole or not. Raises CorpusError."""
    try:
        return Corpus(**json.loads((directory / CARD).read_text()))
    except FileNotFoundError:
        raise CorpusError(f"there is no corpus '{directory.name}'") from None
    except (ValueError, TypeError) as error:
        raise CorpusError(f"{CARD} of corpus '{directory.name}' cannot be read ({error}); delete the corpus and make it again") from None


def make_part(directory: Path, corpus: Corpus, part: int) -> list[Row]:
    """Measure the traces of a part and store it."""
    rows = [corpus.row(index) for index in corpus.indexes(part)]
    write_part(directory, part, rows)
    return rows


def write_part(directory: Path, part: int, rows: Sequence[Row]) -> None:
    """The file appears whole, or not at all."""
    write(file_of(directory, part), content_of(rows))


def content_of(rows: Sequence[Row]) -> bytes:
    """The file of a part."""
    table = pa.Table.from_pylist([row.as_record() for row in rows], SCHEMA)
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write(path: Path, content: bytes) -> None:
    """As a whole: readers see the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def whole(directory: Path) -> Corpus:
    """The corpus in a directory. Raises CorpusError if a part is missing or torn."""
    corpus = opened(directory)
    if missing := corpus.missing(directory):
        raise CorpusError(
            f"{file_of(directory, missing[0]).name} of corpus '{directory.name}' is missing or torn; "
            "make the corpus again, which makes the missing parts alone"
        )
    return corpus


def rows(directory: Path) -> Iterator[Row]:
    """All rows, by index. Raises CorpusError if a part is missing or torn."""
    corpus = whole(directory)
    for part in range(corpus.parts):
        try:
            table = parquet.read_table(file_of(directory, part))
        except (OSError, pa.ArrowException) as error:
            raise CorpusError(f"{file_of(directory, part)} cannot be read ({error}); delete the file and make the corpus again") from None
        if table.schema.names != SCHEMA.names:
            raise CorpusError(
                f"corpus '{directory.name}' is of another version of Millrace, with other columns; make it again by another name"
            )
        yield from map(Row.from_record, table.to_pylist())


def digest(directory: Path) -> str:
    """Of all parts' bytes, in order."""
    whole = hashlib.sha256()
    for part in range(opened(directory).parts):
        whole.update(file_of(directory, part).read_bytes())
    return whole.hexdigest()[:16]


@dataclass(frozen=True)
class Balance:
    """How labels are spread. failures: number of traces by cause. backpressured: among those that succeeded. spans: least, median and
    greatest value of each cost."""

    traces: int
    failures: dict[Failure, int]
    backpressured: int
    spans: dict[str, tuple[float, float, float]]

    @property
    def succeeded(self) -> int:
        return self.traces - sum(self.failures.values())

    @classmethod
    def of(cls, labels: Sequence[Labels]) -> Balance:
        fine = [one for one in labels if one.success]
        spans = {}
        for name in ("throughput_per_s", "processing_ms", "end_to_end_ms", "mixed_ms"):
            values = sorted(value for one in fine if (value := getattr(one, name)) is not None)
            if values:
                spans[name] = (values[0], values[len(values) // 2], values[-1])
        return cls(
            len(labels),
            dict(Counter(one.failure for one in labels if not one.success)),
            sum(bool(one.backpressured) for one in fine),
            spans,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "traces": self.traces,
            "succeeded": self.succeeded,
            "failures": dict(self.failures),
            "backpressured": self.backpressured,
            "spans": {name: list(span) for name, span in self.spans.items()},
        }


def write_card(directory: Path) -> dict[str, Any]:
    """Write how the labels of a whole corpus are spread, and its digest, for those who only want to read about it. Raises CorpusError."""
    card = {"digest": digest(directory), **Balance.of([row.labels for row in rows(directory)]).as_json()}
    write(directory / BALANCE, json.dumps(card, indent=1).encode())
    return card
