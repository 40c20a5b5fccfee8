"""The picture of query and hosts in reports. Catches: a picture that is no XML, operators that cover one another, hosts left out."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from webapp.reports.topology import HOSTS_MAX, Box, Topology, grid_of

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)


def query(ids: list[str], edges: list[tuple[int, int]], feedback: bool = False, **more: Any) -> dict[str, Any]:
    joined = [{"source": ids[a], "target": ids[b], **({"feedback": True} if feedback and b <= a else {})} for a, b in edges]
    return {"query": {"operators": [{"id": id, "kind": "map"} for id in ids], "edges": joined}, **more}


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Any]:
    ids = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    ends = st.integers(0, len(ids) - 1)
    return query(ids, draw(st.lists(st.tuples(ends, ends), max_size=10)), feedback=draw(st.booleans()))


def overlap(one: Box, other: Box) -> bool:
    return abs(one.x - other.x) < one.width and abs(one.y - other.y) < one.height


@given(queries(), st.floats(0, 3), st.integers(0, 60))
def test_any_query_is_a_picture_in_which_no_operator_covers_another(document: dict[str, Any], busy: float, hosts: int) -> None:
    sample = {"busy": busy, "blocked": busy / 3, "most": {"busy": 2 * busy}}
    names = [f"h<{n}>" for n in range(hosts)]
    ids = [one["id"] for one in document["query"]["operators"]]
    frames = [{"t_s": 1.0, "operators": dict.fromkeys(ids, sample), "hosts": dict.fromkeys(names, sample)}]
    topology = Topology(document, {}, frames, {})
    drawn = ElementTree.fromstring(topology.svg())
    width, height = map(float, (drawn.get("viewBox") or "").split()[2:])
    boxes = drawn.findall("g")
    assert len(boxes) == len(ids) + min(hosts, HOSTS_MAX)
    for box in boxes:
        frame = box.find("rect")
        assert frame is not None
        assert float(frame.get("x") or 0) + float(frame.get("width") or 0) <= width + 1
        assert float(frame.get("y") or 0) + float(frame.get("height") or 0) <= height + 1
    placed = list(topology._operators().values())
    assert not any(overlap(one, other) for at, one in enumerate(placed) for other in placed[:at])


def test_operators_stand_as_on_the_canvas() -> None:
    positions = {"a": (0, 0), "b": (0, 128), "join": (192, 64)}
    document = query(list(positions), [(0, 2), (1, 2)], ui={"positions": {id: {"x": x, "y": y} for id, (x, y) in positions.items()}})
    assert grid_of(document) == {"a": (0, 0), "b": (0, 1), "join": (1, 0.5)}
    assert grid_of(query(["a", "b", "c"], [(0, 1), (1, 2)])) == {"a": (0, 0), "b": (1, 0), "c": (2, 0)}


def test_the_most_of_any_instance_counts_after_warm_up() -> None:
    frames = [
        {"t_s": t_s, "operators": {"a": {"busy": busy, "blocked": 0.6, "most": {"busy": most}}}}
        for t_s, busy, most in ((1.0, 0.99, 1.0), (2.0, 0.2, 0.5), (3.0, 0.4, 0.7))
    ]
    document = query(["a"], [], workload={"warmup_s": 1.0})
    (box,) = Topology(document, {"a": ["w", "w"]}, frames, {})._operators().values()
    assert (box.use.said, box.mark) == ("mean 30 %, max 70 %", "×2")
    assert 'class="box blocked"' in box.svg()
    (gone,) = Topology(document, {}, [], {"operators": {"a": {"busy": 0.25}}})._operators().values()
    assert gone.use.said == "mean 25 %", "frames may have been removed, the summary stays"
