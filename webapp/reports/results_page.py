"""docs/results.md: what holds of each paper, from the results that come with Millrace."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from engine.spec.figure.results import write_whole
from webapp.lab import figures

HEAD = """# Results

**At a glance**

* What each figure came to at the largest scale that was run, figure by figure. `manage.py reproduce WHICH --scale SCALE --ship`
  measures and writes it; nothing here was written by hand.
* *Calibrated*: all assertions hold, but a price was fitted to them. *Partly*: some do not hold; they are listed below the table.
* Consistency checks, which are true by construction, are not counted.
* What an assertion asks for, and how figures differ from the papers, stands on the page of each figure
  ([figures](figures.md)).
"""
COLUMNS = "| figure | status | scale | engine | assertions that hold | runs |\n|---|---|---|---|---|---|"


def page() -> Path:
    return figures.FILES.root.parent / "docs" / "results.md"


def write() -> None:
    """From the files as they are now. As a whole, or not at all. Raises OSError."""
    figures.read_again()
    write_whole(page(), text())


def text() -> str:
    known = figures.all_known(figures.FILES.ids(), None)
    papers: dict[tuple[str, str], list[figures.Known]] = {}
    for one in known:
        papers.setdefault((one.figure.id.partition("/")[0], one.figure.source.paper), []).append(one)
    return "\n".join([HEAD, *("\n".join(_paper(prefix, paper, of)) for (prefix, paper), of in papers.items())])


def _paper(prefix: str, paper: str, known: list[figures.Known]) -> list[str]:
    run = [one for one in known if one.shipped]
    held, asserted = sum(map(_held, run)), sum(len(one.counted) for one in run)
    statuses = ", ".join(f"{count} {status}" for status, count in Counter(one.status for one in known).items())
    lines = [
        f"## {paper}: `{prefix}`",
        "",
        f"{f'{held} of {asserted} assertions hold. ' if run else ''}Figures: {statuses}.",
        "",
        COLUMNS,
        *map(_row, known),
        "",
    ]
    if lacking := [line for one in run for line in _lacking(one)]:
        lines += ["What does not hold:", "", *lacking, ""]
    return lines


def _held(one: figures.Known) -> int:
    return sum(assertion["state"] == "holds" for assertion in one.counted)


def _row(one: figures.Known) -> str:
    cells = [f"`{one.figure.id}` {one.figure.title}", one.status]
    if (result := one.shipped) is None:
        return f"| {' | '.join([*cells, '', '', '', ''])} |"
    cells += [result.scale, result.engine_version, f"{_held(one)} of {len(one.counted)}", f"{result.runs:,}"]
    return f"| {' | '.join(cells)} |"


def _lacking(one: figures.Known) -> list[str]:
    lacking = [of for of in one.assertions if of["state"] != "holds"]
    return [f"* `{one.figure.id}` {of['id']}, {of['state']}: {_sentence(of['text'])}{_measured(of)}{_why(of)}" for of in lacking]


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _measured(assertion: dict[str, Any]) -> str:
    sides = "; ".join(f"`{side['text']}` = {_range(side)}" for side in assertion["sides"] if side["text"] != "tolerance")
    parts = [part for part in (sides, assertion["reason"]) if part]
    return f" Measured: {'; '.join(parts)}." if parts else ""


def _range(side: dict[str, Any]) -> str:
    if side["most"] is None:
        return f"{side['least']:.4g} or more"
    least, most = (f"{side[end]:.4g}" for end in ("least", "most"))
    return least if least == most else f"{least} to {most}"


def _why(assertion: dict[str, Any]) -> str:
    unmet = assertion["unmet"]
    return f" *{_sentence(unmet['why'])}* ({unmet['on']})" if unmet else ""
