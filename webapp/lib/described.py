"""Values that responses contain unchanged, with a type only for the OpenAPI document.

Stored values are neither validated nor converted on output, so responses are byte-identical whatever engine version produced the value.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, GetJsonSchemaHandler, TypeAdapter, with_config
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypeAliasType


class AsIs:
    """Annotation of a field that accepts any value and is served unchanged. described_by: the type shown in the JSON Schema."""

    def __init__(self, described_by: Any) -> None:
        self.described_by = described_by

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        items: JsonSchemaValue = handler(TypeAdapter(list[self.described_by]).core_schema)[
            "items"
        ]  # inside a list, a named type becomes a reference
        return items


EXACT = with_config(ConfigDict(extra="forbid"))
"""Decorator of a TypedDict without additional fields."""

JsonTree = TypeAliasType("Json", "bool | float | str | list[Json] | dict[str, Json] | None")
Json = Annotated[Any, AsIs(JsonTree)]
JsonObject = Annotated[dict[str, Any], AsIs(dict[str, JsonTree])]
