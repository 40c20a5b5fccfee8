"""CheckMate's figures, with real runs at smoke scale: ten workers, one simulated record for fifty.

What this catches: a change of the engine that loses what a figure shows, or brings it about without anybody noticing; a value that cannot
be drawn any more. At this scale much is coarse, and not all that the paper says holds: which assertions fail is written down here, so
that it changes on purpose only.
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
    "checkmate/3.7": {"A-7.1c", "A-7.4c", "A-7.6d"},
    "checkmate/3.8": {"A-8.1b", "A-8.1c", "A-8.1d", "A-8.3c", "A-8.4c", "A-8.4d"},
    "checkmate/3.9": {"A-9.1b", "A-9.1c", "A-9.1h", "A-9.1i", "A-9.3a", "A-9.3d"},
    "checkmate/3.10": {"A-10.2a", "A-10.2b"},
    "checkmate/3.11": {"A-11.1b"},
    "checkmate/3.12": {
        "A-12.1a",
        "A-12.1g",
        "A-12.1h",
        "A-12.1m",
        "A-12.1n",
        "A-12.2a",
        "A-12.2c",
        "A-12.2e",
        "A-12.3",
    },
    "checkmate/3.13": {
        "A-13.1d",
        "A-13.1e",
        "A-13.1i",
        "A-13.2b",
        "A-13.2d",
        "A-13.2f",
        "A-13.3a",
        "A-13.3b",
        "A-13.3c",
        "A-13.3d",
        "A-13.3e",
        "A-13.3f",
        "A-13.3g",
        "A-13.3h",
        "A-13.3i",
        "A-13.3j",
        "A-13.3k",
        "A-13.3l",
        "A-13.3m",
        "A-13.3n",
        "A-13.3o",
        "A-13.3p",
        "A-13.3q",
        "A-13.3r",
    },
    "checkmate/feedback": set(),
    "checkmate/hybrid": set(),
    "checkmate/recovery": {"A-R.1a", "A-R.1b"},
    "checkmate/table-3.2": set(),
    "checkmate/table-3.3": set(),
    "checkmate/table-3.4": {"A-T4.1", "A-T4.3", "A-T4.5"},
    "checkmate/verdict": {"M-2", "M-3", "M-5"},
}
"""Assertions that do not hold at smoke scale, by figure; those that other sizes are needed for are not among them."""
OF_OTHER_SIZES = ("has no point", "no run of the study with", "only one point", "have different x")


@pytest.mark.parametrize("id", only(FILES.ids("checkmate"), ci=["checkmate/feedback"]))
def test_what_holds_at_smoke_scale(id: str, executor: Here) -> None:
    result = reproduce(FILES.figure(id), "smoke", FILES.experiment, executor)
    looked_at = [one for one in result.assertions if not any(reason in one.reason for reason in OF_OTHER_SIZES)]
    assert {one.id for one in looked_at if one.state != "holds"} == FAILING[id]
    assert looked_at
