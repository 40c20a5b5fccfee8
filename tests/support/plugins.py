"""A package with kinds of its own, as pip would install it: a module and its metadata in a directory of the path."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENTRY_POINTS = "[millrace.operators]\nband = newcomers_package:Band\n\n[millrace.placements]\nweighted = newcomers_package:Weighted\n"


def installed(directory: Path) -> None:
    """Put tests/newcomers.py there as the package newcomers-package."""
    (directory / "newcomers_package.py").write_text((ROOT / "tests" / "newcomers.py").read_text())
    about = directory / "newcomers_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: newcomers-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
