"""Comparison of runs: their documents in words, and their metrics, each over the lab's runs that differ only in the seed."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.spec.experiment.differences import Difference as DocumentDifference
from engine.spec.experiment.differences import differences
from engine.studies import Difference, Interval, difference, interval
from webapp.lab.models import Lab, Run, RunState
from webapp.lab.models.work import ACTIVE
from webapp.lab.studies import metrics_of

FIELDS = ("id", "number", "seed", "state", "setup", "engine_version", "deleted_at")
SEEDS_MAX = 50
"""Maximum number of seeds per side; the newest runs are used first."""
ENDED_BADLY = (RunState.FAILED, RunState.CANCELLED)
"""Runs in these states are incomplete, so their measurements are not combined with others."""


@dataclass
class Side:
    """A run and others of the same setup: the same engine version and the same document except for the seed. runs: successful runs by seed;
    if a seed has several, the chosen one or the newest. under_way: seeds without a result yet. twin: another side has the same setup, so
    this side is its run alone. against: differences from the first side by metric; differs: those of the documents. Both are empty for the
    first side itself."""

    run: Run
    runs: dict[int, Run] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    twin: bool = False
    over_seeds: dict[str, Interval] = field(default_factory=dict)
    against: dict[str, Difference] = field(default_factory=dict)
    differs: list[DocumentDifference] = field(default_factory=list)

    @property
    def setup(self) -> tuple[str, str]:
        return self.run.setup, self.run.engine_version

    def gather(self, same: Iterable[Run]) -> None:
        """Sort the runs of the same setup into `runs` and `under_way`. same: newest first."""
        for run in same:
            if run.state in ACTIVE:  # not claimed yet, or a worker of the same version will continue it
                self.under_way.add(run.seed)
            elif run.engine_version == self.run.engine_version and len(self.runs) < SEEDS_MAX:
                self.runs.setdefault(run.seed, run)
        self.under_way -= {self.run.seed, *self.runs}


@dataclass(frozen=True)
class Comparison:
    """gone: requested runs that do not exist, with their number if they were deleted."""

    sides: list[Side]
    gone: dict[uuid.UUID, int | None]


def compare(lab: Lab, ids: Sequence[uuid.UUID], metrics: Sequence[str]) -> Comparison:
    """Compare the runs, in this order, by these summary metrics. Three queries, for any number of seeds.

    Requested runs with the same setup differ only by chance, so each is shown on its own.
    """
    asked = list(dict.fromkeys(ids))
    found = {run.pk: run for run in Run.objects.filter(lab=lab, pk__in=asked).only(*FIELDS, "document")}
    here = {id: run for id, run in found.items() if run.deleted_at is None}
    sides = [Side(here[id]) for id in asked if id in here]
    times = Counter(side.setup for side in sides)
    for side in sides:
        side.twin = all(side.setup) and times[side.setup] > 1
    wide = [side for side in sides if all(side.setup) and not side.twin and side.run.state not in ENDED_BADLY]
    same: dict[str, list[Run]] = defaultdict(list)
    alike = Run.objects.filter(lab=lab, setup__in=[side.run.setup for side in wide], deleted_at__isnull=True)
    for run in alike.filter(state__in=[*ACTIVE, RunState.SUCCEEDED]).only(*FIELDS).order_by("-number"):
        same[run.setup].append(run)
    for side in sides:
        if side.run.state not in ACTIVE:
            side.runs[side.run.seed] = side.run
        if side in wide:
            side.gather(same[side.run.setup])
    for side in sides[1:]:
        side.differs = differences(sides[0].run.document, side.run.document, hashed_only=True)
    measure(sides, metrics)
    return Comparison(sides, {id: found[id].number if id in found else None for id in asked if id not in here})


def measure(sides: Sequence[Side], metrics: Sequence[str]) -> None:
    """Fill in the metrics of the sides' runs."""
    measured = metrics_of({run.pk for side in sides for run in side.runs.values()}, metrics)

    def by_seed(side: Side, metric: str) -> dict[int, float]:
        return {seed: measured[run.pk][metric] for seed, run in side.runs.items() if metric in measured[run.pk]}

    for metric in metrics:
        base: dict[int, float] | None = None
        for side in sides:
            values = by_seed(side, metric)
            if values:
                side.over_seeds[metric] = interval([values[seed] for seed in sorted(values)])
            if base and values:
                side.against[metric] = difference(base, values)
            if base is None:
                base = values
