"""Klink's figures, with real runs at smoke scale: a quarter of the node and of its queries, a minute.

What this catches: a change of the engine or of a policy that loses what a figure shows; a value that cannot be drawn any more. Which
assertions fail at this scale is written down, so that it changes on purpose only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.figures import Here, reproduce
from engine.spec.figure.files import FigureFiles
from tests.support.tiers import only

pytestmark = pytest.mark.slow

FILES = FigureFiles(Path(__file__).parents[3] / "fixtures")
FAILING: dict[str, set[str]] = {
    "klink/1.2": set(),
    "klink/3.4a": {"K-3.4a5"},
    "klink/3.4b": {"K-3.4b2", "K-3.4b3"},
    "klink/3.5a": set(),
    "klink/3.5b": {"K-3.5b2c"},
    "klink/3.6": set(),
    "klink/3.7": {"K-3.7c"},
    "klink/3.8": set(),
    "klink/3.9a": {"K-3.9a4", "K-3.9a5"},
    "klink/3.9b": set(),
    "klink/sensitivity": {"K-S1c"},
}
"""Assertions that do not hold at smoke scale, by figure; those that other sizes are needed for are not among them."""
OF_OTHER_SIZES = ("has no point", "no run of the study with", "only one point", "have different x")


@pytest.mark.parametrize("id", only(FILES.ids("klink"), ci=[]))
def test_what_holds_at_smoke_scale(id: str, executor: Here) -> None:
    result = reproduce(FILES.figure(id), "smoke", FILES.experiment, executor)
    looked_at = [one for one in result.assertions if not any(reason in one.reason for reason in OF_OTHER_SIZES)]
    assert {one.id for one in looked_at if one.state != "holds"} == FAILING[id]
    assert looked_at
