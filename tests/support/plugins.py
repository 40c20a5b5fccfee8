"""A package with kinds of its own, as pip would install it: a module and its metadata in a directory of the path."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "operators": ("distinct = operator:Distinct", "band = band:Band"),
    "partitionings": ("two_choices = partitioning:TwoChoices",),
    "placements": ("weighted = placement:Weighted",),
    "checkpointings": ("growing = checkpointing:GrowingIntervals",),
    "flow_controls": ("shared = flow_control:SharedCredits",),
    "engines": ("sluice = engine:Sluice",),
    "ingresses": ("drop_until_empty = ingress:DropUntilEmpty",),
    "scalings": ("backlog = scaling:Backlog",),
    "schedulings": ("longest_queue = scheduling:LongestQueue",),
    "balancings": ("largest = balancing:Largest",),
    "prices": ("fast = prices:FAST",),
    "disorders": ("every = delay:EveryDelay",),
    "streams": ("heartbeat = stream:Heartbeat",),
    "rates": ("sawtooth = rate:SawtoothRate",),
    "faults": ("hot_host = fault:HotHost",),
    "occurrences": ("periodic = occurrence:Periodic",),
    "arrivals": ("batches = arrivals:BatchArrivals",),
    "noises": ("triangular = noise:TriangularNoise",),
    "drifts": ("compaction = drift:CompactionDrift",),
    "warmups": ("batches = warmup:WarmUpByBatches",),
}
"""What the package offers, by family."""


def installed(directory: Path) -> None:
    """Put tests/newcomers there as the package newcomers-package, with an entry point for each kind."""
    shutil.copytree(ROOT / "tests" / "newcomers", directory / "newcomers_package", ignore=shutil.ignore_patterns("__pycache__"))
    about = directory / "newcomers_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: newcomers-package\nVersion: 1.0\n")
    lines = []
    for family, kinds in KINDS.items():
        lines += [f"[millrace.{family}]", *(kind.replace("= ", "= newcomers_package.") for kind in kinds)]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
