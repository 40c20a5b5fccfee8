"""Corpora on disk: the same files whoever makes them, and nothing of another corpus or of a torn file."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from engine.corpus import corpora
from engine.corpus.corpora import Balance, Corpus, CorpusError, digest, file_of, opened, rows, start, write_part
from engine.corpus.fingerprint import fingerprint
from engine.corpus.labels import Labels
from engine.corpus.making import make
from engine.corpus.rows import Row, as_json, from_json
from engine.corpus.traces import DRAWS, trace

CORPUS = replace(Corpus.of("training", 1, 5), per_part=2)


def row(index: int, labels: Labels | None = None) -> Row:
    """As if it had been measured."""
    of = trace("training", 1, index)
    shares = (0.25,) * len(of.query.operators)
    return Row(index, of, shares, labels or Labels(43, "", 10.5, 20.0, 30.25, 0.0, False, 5.5), shares)


def filled(directory: Path) -> Path:
    start(directory, CORPUS)
    for part in range(CORPUS.parts):
        write_part(directory, part, [row(index) for index in CORPUS.indexes(part)])
    return directory


def test_traces_are_the_same_behind_json() -> None:
    for draw in DRAWS:
        for index in range(20):
            of = trace(draw, 1, index)
            assert from_json(json.loads(json.dumps(as_json(of)))) == of


def test_rows_are_the_same_behind_their_file(tmp_path: Path) -> None:
    start(tmp_path, CORPUS)
    written = [row(0), row(1, Labels(43, "a host died"))]
    for part, some in enumerate((written, [row(2), row(3)], [row(4)])):
        write_part(tmp_path, part, some)
    found = list(rows(tmp_path))
    assert found[:2] == written
    assert [one.index for one in found] == [0, 1, 2, 3, 4]


def test_what_is_missing_or_torn_is_made_again_and_never_read(tmp_path: Path) -> None:
    filled(tmp_path)
    assert start(tmp_path, CORPUS) == []
    whole = digest(tmp_path)
    file = file_of(tmp_path, 1)
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    assert start(tmp_path, CORPUS) == [1]
    with pytest.raises(CorpusError, match=r"part-00001\.parquet of corpus .* is missing or torn; make the corpus again"):
        list(rows(tmp_path))
    file.write_bytes(content[:200] + b"\0" * 50 + content[250:])
    with pytest.raises(CorpusError, match=r"cannot be read .*; delete the file and make the corpus again"):
        list(rows(tmp_path))
    file.write_bytes(content)
    assert digest(tmp_path) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, "was begun with seed 1, not 2"),
        ({"traces": 6}, "was begun with traces 5, not 6"),
        ({"measured_by": "0" * 16}, "was measured by another version of the engine or of its prices; choose another name, or delete it"),
    ],
)
def test_another_corpus_does_not_go_into_the_same_folder(tmp_path: Path, change: dict[str, int], message: str) -> None:
    start(tmp_path, CORPUS)
    with pytest.raises(CorpusError, match=message):
        start(tmp_path, replace(CORPUS, **change))  # type: ignore[arg-type]


def test_a_corpus_that_is_not_there_or_broken_says_so(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no corpus 'none'"):
        opened(tmp_path / "none")
    (tmp_path / corpora.CARD).write_text("{")
    with pytest.raises(CorpusError, match=r"corpus\.json of corpus .* cannot be read"):
        opened(tmp_path)
    with pytest.raises(CorpusError, match="draw is 'linear'; it must be one of training, calibration"):
        Corpus.of("linear", 1, 5)
    with pytest.raises(CorpusError, match="traces is 0; it must be from 1 to"):
        Corpus.of("training", 1, 0)


def test_the_balance_counts_failures_and_backpressure() -> None:
    labels = [Labels(43, "", n, 2.0 * n, 3.0 * n, 0.0, n == 3, 1.0 * n) for n in (1, 2, 3)]
    found = Balance.of([*labels, Labels(43, "a host died"), Labels(43, "nothing arrived"), Labels(43, "nothing arrived")])
    assert (found.traces, found.succeeded, found.backpressured) == (6, 3, 1)
    assert found.failures == {"a host died": 1, "nothing arrived": 2}
    assert found.spans["processing_ms"] == (2.0, 4.0, 6.0)


def test_the_fingerprint_is_that_of_prices_and_documents() -> None:
    assert fingerprint() == fingerprint()
    assert len(fingerprint()) == 16


@pytest.mark.slow
def test_several_processes_one_of_which_is_killed_make_the_same_files(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    start(alone, CORPUS)
    for part in reversed(range(CORPUS.parts)):
        corpora.make_part(alone, CORPUS, part)
    made = []
    for part, labels in make(together, CORPUS, processes=2):
        assert len(labels) == len(CORPUS.indexes(part))
        if not made:
            multiprocessing.active_children()[0].kill()
        made.append(part)
    assert sorted(made) == [0, 1, 2]
    assert digest(together) == digest(alone)
    assert list(make(together, CORPUS, processes=2)) == []


@pytest.mark.slow
def test_a_trace_opened_as_an_experiment_gives_its_labels_again() -> None:
    row = CORPUS.row(3)
    summary = engine.run(CORPUS.document(3)).summary
    assert row.labels.processing_ms == summary["latency_ms"]["mean"]
    assert row.labels.throughput_per_s == summary["throughput_out_per_s"]
