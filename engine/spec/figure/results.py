"""Results that come with Millrace: what figures came to where they were run, in files that can be read in a diff (docs/figures.md).

`<root>/results/<paper>/<figure>.<scale>.json`. Only numbers and verdicts are kept, not the runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from ..base.operator import Model
from .figure import Scale


class Verdict(Model):
    """An assertion and what became of it (`engine.figures.judging.Judged`)."""

    id: str
    text: str
    check: str
    tolerance: float | None
    state: Literal["holds", "fails", "not evaluated"]
    sides: list[dict[str, Any]]
    reason: str


class ShippedResult(Model):
    """A result of a figure at a scale. hash: of what it depends on (`engine.spec.figure.figure.identity`). prices: digests of the price
    lists that it rests on. took_s: by the clock of the machine."""

    figure: str
    scale: Scale
    hash: str
    engine_version: str
    prices: dict[str, str]
    seeds: list[int]
    runs: int = Field(ge=0)
    took_s: float = Field(ge=0)
    machine: str
    made_on: date
    status: Literal["reproduced", "calibrated", "partly", "not reproduced", "not evaluated"]
    assertions: list[Verdict]
    values: dict[str, dict[str, Any]]


class BrokenResult(ValueError):
    """A file of a result cannot be read; the message says which and why."""


@dataclass(frozen=True)
class ResultFiles:
    """root: the directory of fixtures."""

    root: Path

    def path(self, figure: str, scale: Scale) -> Path:
        return self.root / "results" / f"{figure}.{scale}.json"

    def write(self, result: ShippedResult) -> None:
        """As a whole, or not at all. Raises OSError."""
        write_whole(self.path(result.figure, result.scale), text_of(result))

    def read(self, figure: str, scale: Scale) -> ShippedResult | None:
        """None if there is no such file. Raises BrokenResult."""
        path = self.path(figure, scale)
        return self.read_file(path) if path.is_file() else None

    def paths(self) -> list[Path]:
        return sorted(self.root.glob("results/*/*.json"))

    def read_file(self, path: Path) -> ShippedResult:
        """Raises BrokenResult."""
        name = path.relative_to(self.root / "results").as_posix()
        try:
            result = ShippedResult.model_validate_json(path.read_bytes())
        except OSError as error:
            raise BrokenResult(f"results/{name} cannot be read: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors()[0]
            where = "/".join(map(str, first["loc"])) or "the file"
            raise BrokenResult(f"results/{name} cannot be read: {where}: {first['msg']}") from None
        if (expected := f"{result.figure}.{result.scale}.json") != name:
            raise BrokenResult(f"results/{name} holds the result of {expected}; give it this name")
        return result


def write_whole(path: Path, text: str) -> None:
    """Readers see the old file or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        written.write_text(text)
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)


def text_of(result: ShippedResult) -> str:
    """As JSON with a line for each assertion and each value."""
    parts = result.model_dump(mode="json")
    lines = [f" {json.dumps(name)}: {_part(name, value)}" for name, value in parts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _part(name: str, value: Any) -> str:
    if name == "assertions":
        return _lines("[", map(json.dumps, value), "]")
    if name == "values":
        return _lines("{", (f"{json.dumps(key)}: {json.dumps(of)}" for key, of in value.items()), "}")
    return json.dumps(value)


def _lines(opening: str, lines: Iterable[str], closing: str) -> str:
    return opening + "\n  " + ",\n  ".join(lines) + "\n " + closing
