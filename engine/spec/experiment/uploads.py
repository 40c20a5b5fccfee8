"""Fields that refer to uploaded data: a data set, or one of its columns."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

NAME_LENGTH_MAX = 200

DatasetName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=NAME_LENGTH_MAX,
        title="Data set",
        description="Name of the uploaded data set.",
        json_schema_extra={"x-editor": "dataset"},
    ),
]


def column(title: str, description: str, *, is_time: bool = False) -> Any:
    """Field for the name of a column in the data set named by the sibling field `dataset`. is_time: the column holds timestamps."""
    editor: dict[str, Any] = {"x-editor": "dataset-column", **({"x-time": True} if is_time else {})}
    return Field(min_length=1, max_length=NAME_LENGTH_MAX, title=title, description=description, json_schema_extra=editor)
