"""Files of figures, `<root>/figures/<paper>/<figure>.yaml`, and of the experiments they name: `<root>/experiments/<name>.yaml`, or for
`<paper>/<name>`, `<root>/figures/<paper>/experiments/<name>.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.problems import InvalidExperiment, Problem, suggestion
from ..base.structure import check
from ..experiment.document import read_document
from ..rules.validation import Context
from .figure import Figure, examine_figure

EXPERIMENT_NAME = re.compile(r"([a-z0-9_]{1,50}/)?[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True)
class FigureFiles:
    """Reads figures and experiments from files. root: the directory of fixtures."""

    root: Path

    def ids(self, prefix: str = "") -> list[str]:
        """Ids of all figures that start with the prefix, in natural order (3.5 before 3.16)."""
        found = [path.relative_to(self.root / "figures").with_suffix("").as_posix() for path in self.root.glob("figures/*/*.yaml")]
        return sorted((id for id in found if id.startswith(prefix)), key=_number_by_number)

    def experiment(self, name: str) -> dict[str, Any] | None:
        """An experiment shared by the figures of a paper, or an example; None if unknown."""
        if not EXPERIMENT_NAME.fullmatch(name):
            return None
        paper, _, of_paper = name.rpartition("/")
        path = self.root / (f"figures/{paper}/experiments/{of_paper}.yaml" if paper else f"experiments/{name}.yaml")
        return read_document(path) if path.is_file() else None

    def document(self, id: str) -> dict[str, Any]:
        """Read a figure's document. Raises InvalidExperiment if the figure is unknown or its file is unreadable."""
        if id not in (known := self.ids()):
            raise InvalidExperiment([Problem("", "unknown_figure", f"there is no figure '{id}'", id, suggestion(id, known))])
        return self._read(id)

    def outline(self, id: str) -> Figure:
        """Load a figure without validating its studies. Raises InvalidExperiment."""
        figure, problems = check(Figure, self.document(id))
        return self._named(id, figure, problems)

    def figure(self, id: str, context: Context | None = None) -> Figure:
        """Load a figure. Raises InvalidExperiment with all problems."""
        figure, problems = examine_figure(self.document(id), self.experiment, context)
        return self._named(id, figure, problems)

    def _read(self, id: str) -> dict[str, Any]:
        return read_document(self.root / "figures" / f"{id}.yaml")

    @staticmethod
    def _named(id: str, figure: Figure | None, problems: list[Problem]) -> Figure:
        if figure is None:
            raise InvalidExperiment(problems)
        if figure.id != id:
            message = f"the file of figure '{id}' contains the id '{figure.id}'; name the file after its figure's id"
            raise InvalidExperiment([Problem("/id", "wrong_id", message, figure.id)])
        return figure


def _number_by_number(id: str) -> list[Any]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", id)]
