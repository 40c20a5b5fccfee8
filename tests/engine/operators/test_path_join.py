"""The cyclic reachability query (Siachamis 2024, Figure 3.6): which paths it finds, what a deletion takes along.

What this catches: a path that is found twice or never, a link that is still there on some instance after its deletion, a path that is left
although a link in its middle is gone, lists of paths that break when state is taken out and put in.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from engine.core.layout import I_ENTRIES, I_STATE_BYTES
from engine.operators import OPERATORS
from engine.spec.experiment.experiment import Experiment
from engine.spec.rules.validation import validate
from engine.workloads import Strings, build_feed
from tests.support.corner_cases import links_that_go_while_paths_go_round, reachability

from ...support.agreement import assert_agreement, simulated, template, traced, with_params
from ...support.keyed_state_examples import InAndOut

HOPS = 3
Path = tuple[int, ...]


def calm() -> dict[str, Any]:
    """Each event comes when all that came before has gone round: the topics keep step, a few hundredths of a second apart."""
    document = reachability(20, HOPS, 3, (6.0, 1.5, 2.5), horizon_s=30.0)
    for source, delay_ms in zip(document["workload"]["sources"].values(), (0.0, 30.0, 50.0), strict=True):
        source["disorder"] = {"kind": "constant", "delay_ms": delay_ms}
    return document


def events(document: dict[str, Any]) -> list[tuple[int, str, dict[str, int]]]:
    """What comes into the join from outside, in order of time."""
    experiment = Experiment.model_validate(document)
    found = []
    for number, id in enumerate(experiment.workload.sources):
        feed = build_feed(experiment, id, number, Strings(), {})
        chunk = feed.chunk(0, feed.closes_ns)
        found += [
            (at, id, dict(zip(feed.fields, words, strict=True)))
            for at, words in zip(chunk.append_ns.tolist(), chunk.words.tolist(), strict=True)
        ]
    return sorted(found, key=lambda event: event[0])


def reached(document: dict[str, Any]) -> tuple[Counter[Path], int, int]:
    """All paths that are found, by their nodes; how many links and paths are left. One event after the other, without any join."""
    links: list[tuple[int, int]] = []
    paths: list[Path] = []
    found: Counter[Path] = Counter()

    def extend(path: Path, ways: list[tuple[int, int]]) -> None:
        for start, end in ways:
            if start == path[-1] and end not in path and len(path) <= HOPS:
                longer = (*path, end)
                found[longer] += 1
                paths.append(longer)
                extend(longer, links)

    for _, topic, values in events(document):
        if topic == "links":
            link = values["start"], values["end"]
            links.append(link)
            for path in paths[:]:
                extend(path, [link])
        elif topic == "sources":
            paths.append((values["origin"],))
            extend(paths[-1], links)
        else:
            gone = values["start"], values["end"]
            links = [link for link in links if link != gone]
            paths = [path for path in paths if gone not in zip((path[0], *path), path, strict=False)]
    return found, len(links), len(paths)


def test_it_finds_the_paths_that_there_are() -> None:
    document = calm()
    moments = [at for at, _, _ in events(document)]
    assert min(later - earlier for earlier, later in pairwise(moments)) > 15_000_000
    simulation = traced(document)
    found, links, paths = reached(document)
    rows = simulation.outputs("sink").to_pylist()
    assert Counter((row["origin"], *(row[f"node{n}"] for n in range(1, row["hops"] + 1))) for row in rows) == found
    assert found.total() > 300
    assert {len(path) for path in found} == {2, 3, HOPS + 1}
    state = simulation._world.arrays.inst[:, [I_STATE_BYTES, I_ENTRIES]].sum(axis=0).tolist()
    assert state[0] == 24 * links + 8 * (4 + HOPS) * paths + 16 * state[1]  # what was deleted is in no instance's state
    assert paths < 0.9 * (found.total() + 45)


def test_both_engines_agree_on_the_template() -> None:
    assert_agreement(template("checkmate_reachability", horizon_s=0.5))


def test_state_can_be_taken_out_and_put_in_again() -> None:
    document = links_that_go_while_paths_go_round()
    whole = traced(document)
    join = next(n for n, operator in enumerate(document["query"]["operators"]) if operator["id"] == "join")
    mover = InAndOut([3_000_017, 6_000_017, 9_000_017], {join: OPERATORS["path_join"].keeping})
    moved = simulated(document, controls=[mover])
    moved.run_until(moved.end_ns)
    assert mover.moved > 30
    assert moved.output_rows().tolist() == whole.output_rows().tolist()


@pytest.mark.parametrize("workers", [5, 50])
def test_the_number_of_workers_is_a_parameter(workers: int) -> None:
    document = template("checkmate_reachability", horizon_s=2.0)
    for operator in document["query"]["operators"]:
        operator["parallelism"] = workers
    document["cluster"]["hosts"][0]["count"] = workers
    assert validate(document) == []
    summary = traced(document).summary()["operators"]
    assert summary["join"]["in"] >= summary["links"]["in"] + workers * summary["deletions"]["in"]
    assert summary["project"]["out"] == summary["sink"]["in"]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"left_end": "ende"}, ["left_end 'ende'", "the left input"]),
        ({"right_path": ["origin", "node99"]}, ["right_path 'node99'", "the right input"]),
        ({"right_path": ["origin", "time"]}, ["right_path 'time' is timestamp", "left_key 'start' is int"]),
        ({"deleted_end": "stop"}, ["deleted_end 'stop'", "the deleted input"]),
    ],
)
def test_wrong_fields_are_refused(params: dict[str, Any], words: list[str]) -> None:
    problems = validate(with_params(calm(), "join", **params))
    assert any(all(word in problem.message for word in words) for problem in problems), problems
