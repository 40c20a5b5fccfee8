"""A corpus whose labels are made up from its streams: what is learned from it matters to nobody."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from engine.corpus.corpora import Corpus, start, write_part
from engine.corpus.labels import Labels
from engine.corpus.rows import Row
from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace

TRACES = 120


@cache
def row(index: int, draw: str = "training") -> Row:
    of = trace(draw, 1, index)
    rate = sum(getattr(operator, "rate_per_s", 0) for operator in of.query.operators)
    arrives = rate / 2 if index % 7 else 0.5  # some of less than one a second
    labels = Labels(43, "", arrives, 1e5 / rate, 2e5 / rate, 0.0, rate > 1500, 1e5 / rate) if index % 5 else Labels(43, "nothing arrived")
    shares = estimated(of.query, 1, index)
    return Row(index, of, shares, labels, tuple(1 - share for share in reversed(shares)))


def corpus(directory: Path, draw: str = "training", traces: int = TRACES, seed: int = 1) -> Path:
    """Written to a directory, which is made. Every seed has the same rows."""
    of = Corpus.of(draw, seed, traces)
    start(directory, of)
    for part in range(of.parts):
        write_part(directory, part, [row(index, draw) for index in of.indexes(part)])
    return directory
