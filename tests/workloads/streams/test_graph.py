"""The changing graph: its topics fit together, and follow the shares of the authors' generator (Siachamis 2024, 3.6)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ..made import columns

PERIODS = 2_000
KINDS = "sllldlslldllsldllxld"


def topics(periods: int = PERIODS, **parameters):
    counts = {"link": 12, "source": 3, "deletion": 5}
    return {kind: columns({"kind": f"graph_{kind}", **parameters}, n * periods) for kind, n in counts.items()}


def pairs(columns_of) -> list[tuple[int, int]]:
    return list(zip(columns_of["start"].tolist(), columns_of["end"].tolist(), strict=True))


def test_what_goes_was_there():
    """Walks over the events in order; few nodes, so that links double."""
    made = topics(nodes=30)
    links, deletions = iter(pairs(made["link"])), iter(pairs(made["deletion"]))
    sources = iter(made["source"]["origin"].tolist())
    live, origins = Counter(), Counter()
    for kind in KINDS * PERIODS:
        if kind == "s":
            origins[next(sources)] += 1
        elif kind == "l":
            start, end = next(links)
            assert start != end
            live[start, end] += 1
        else:
            start, end = next(deletions)
            assert (kind == "x") == (start == end)
            gone, what = (origins, start) if kind == "x" else (live, (start, end))
            assert gone[what] > 0
            gone[what] -= 1
    assert (live.total(), origins.total()) == (8 * PERIODS, 2 * PERIODS)


def test_shares_of_the_places_where_links_begin():
    """Of a million nodes few are met by chance."""
    made = topics()
    sources, ends = set(made["source"]["origin"].tolist()), set(made["link"]["end"].tolist())
    starts = made["link"]["start"]
    assert np.mean([start in sources for start in starts.tolist()]) == pytest.approx(0.1, abs=0.02)
    assert np.mean([start in ends for start in starts.tolist()]) == pytest.approx(0.2, abs=0.02)
    assert np.mean(made["link"]["end"]) == pytest.approx(500_000, rel=0.02)
    nowhere = topics(at_sources=0.0, at_ends=0.0)["link"]["start"]
    assert len(np.unique(nowhere)) > 0.98 * len(nowhere)


def test_any_live_link_goes_as_easily_as_another():
    """Of 8 n live links 4 go while n grows by one, so link s is still there with the probability sqrt(s / n): at 0.6 n on average."""
    made = topics()
    number = {pair: n for n, pair in enumerate(pairs(made["link"]))}
    gone = [number[pair] / (12 * (n // 5 + 1)) for n, pair in enumerate(pairs(made["deletion"])) if pair[0] != pair[1]]
    assert np.mean(gone) == pytest.approx(0.6, abs=0.015)


def test_a_fresh_source_is_a_path_of_no_links():
    made = columns({"kind": "graph_source", "path_max": 3}, 50)
    assert made["origin"].tolist() == made["reachable"].tolist()
    assert set(made["hops"].tolist()) == {0}
    assert [set(made[f"node{n}"].tolist()) for n in (1, 2, 3)] == [{-1}] * 3


def test_topics_agree_whatever_their_operators_are_called_and_whatever_is_asked_first():
    link = columns({"kind": "graph_link"}, 5, first=10_000, operator_id="links")
    assert {name: values.tolist() for name, values in link.items()} == {
        name: values[10_000:10_005].tolist() for name, values in topics()["link"].items()
    }
