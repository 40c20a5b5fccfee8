"""Queries of benchmarks: what they are, that training has nothing of them, and that they run."""

from __future__ import annotations

import pytest

from engine.corpus import grid
from engine.corpus.benchmarks import BENCHMARKS
from engine.corpus.corpora import Corpus
from engine.corpus.queries import structure
from engine.corpus.traces import trace
from engine.costmodels.description import Join, Source, WindowedAggregate
from engine.placement.space import Space
from engine.spec import load

NAMES = sorted(BENCHMARKS)


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_is_a_pure_function_and_obeys_the_rules(name: str) -> None:
    drawn = BENCHMARKS[name].drawn(name, 1, 7)
    assert drawn == BENCHMARKS[name].drawn(name, 1, 7)
    assert drawn.trace != BENCHMARKS[name].drawn(name, 1, 8).trace
    of = drawn.trace
    space = Space(len(of.query.operators), of.query.edges, tuple(host.bin for host in of.hosts))
    assert space.broken(of.placed) is None
    load(drawn.document)
    assert Corpus.of(name, 1, 100).document(7) == drawn.document


@pytest.mark.parametrize("name", NAMES)
def test_training_has_no_such_stream_or_window(name: str) -> None:
    """Held out are streams, and windows of 6 s and of 500 records; the join's window of 4 s is there, on other records."""
    drawn = BENCHMARKS[name].drawn(name, 1, 0)
    assert all(source["stream"]["kind"] != "synthetic" for source in drawn.document["workload"]["sources"].values())
    windows = [of.window for of in drawn.trace.query.operators if isinstance(of, Join | WindowedAggregate)]
    known = {"count": grid.COUNTS, "time": grid.TIMES_MS}
    assert [window.size in known[window.policy] for window in windows] == [name == "advertisement"]
    rates = [of.rate_per_s for of in drawn.trace.query.operators if isinstance(of, Source)]
    assert set(rates) <= set(grid.RATES["linear"])


def test_spike_detection_has_a_structure_of_its_own() -> None:
    """Filters before and after an aggregate are in training, too; what is new are its stream and window."""
    structures = {structure(trace("training", 1, index).query) for index in range(300)}
    chains = {structure(trace(f"chains_of_{count}", 1, 0).query) for count in (2, 3, 4)}
    assert not structures & chains
    spikes = BENCHMARKS["spike_detection"].drawn("spike_detection", 1, 0).trace.query
    assert structure(spikes) == "Sink(Filter(WindowedAggregate(Filter(Source()))))"


def test_selectivities_come_from_the_streams() -> None:
    shares = dict(
        zip(
            ("source", "filter", "aggregate", "spikes", "sink"),
            BENCHMARKS["spike_detection"].drawn("spike_detection", 1, 0).selectivities,
            strict=True,
        )
    )
    assert shares["filter"] == 1
    assert 0.2 < shares["spikes"] < 0.7, "a day has as much cold as heat"
    assert shares["aggregate"] == pytest.approx(54 / 500, rel=0.05)


@pytest.mark.slow
def test_they_deliver(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus.of("smart_grid_global", 1, 100)
    labels = [corpus.row(index).labels for index in range(3)]
    assert any(one.success for one in labels)
    assert all(one.processing_ms is None or one.processing_ms > 5000 for one in labels), "the oldest record waits 6 s"
