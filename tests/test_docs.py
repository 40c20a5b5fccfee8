"""The pages of docs/ that list others list all of them."""

from __future__ import annotations

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[1] / "docs" / "decisions"


def test_each_decision_is_listed_once() -> None:
    listed = re.findall(r"^\| \[(\d{3})\]\((\S+)\)", (DECISIONS / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted((page.name[:3], page.name) for page in DECISIONS.glob("[0-9]*.md"))
