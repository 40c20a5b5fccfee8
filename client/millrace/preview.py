"""The first rows of a file, as a reading has them."""

from __future__ import annotations

from typing import Any

import pandas as pd

PREVIEW_BYTES = 1 << 20
"""Bytes of a file that a preview looks at."""


class Preview:
    """The preview of a file, as returned by `Lab.preview`.

    reading: the complete reading, to be changed and given to `Lab.upload`. reasons: why something is proposed, by JSON pointer into the
    reading. problems: of the reading and of cells.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.reading: dict[str, Any] = told["reading"]
        self.reasons: dict[str, str] = {reason["pointer"]: reason["text"] for reason in told["reasons"]}
        self.problems: list[dict[str, Any]] = told["problems"]
        self._told = told

    @property
    def columns(self) -> pd.DataFrame:
        """The columns by their name in the file: name, type, and how many cells of the rows looked at are missing or bad."""
        shown = [{**column, "missing": self._told["missing"][at], "bad": self._told["bad"][at]} for at, column in enumerate(self._listed)]
        return pd.DataFrame(shown, columns=["written", "name", "type", "keep", "missing", "bad"]).set_index("written")

    @property
    def written(self) -> pd.DataFrame:
        """The first rows as the file has them, all as text."""
        return pd.DataFrame(self._told["written"], columns=[column["written"] for column in self._listed])

    @property
    def read(self) -> pd.DataFrame:
        """The first rows as the data set would have them; None where a cell has no value."""
        table = pd.DataFrame(self._told["read"], columns=range(len(self._listed)), dtype=object)
        kept = [at for at, column in enumerate(self._listed) if column["keep"]]
        return table[kept].set_axis([self._listed[at]["name"] for at in kept], axis="columns")

    @property
    def _listed(self) -> list[dict[str, Any]]:
        return list(self.reading["columns"])

    def __repr__(self) -> str:
        problems = [problem["message"] for problem in self.problems]
        return "\n".join([f"<preview of {self._told['rows']} rows>", str(self.read.head()), *problems])
