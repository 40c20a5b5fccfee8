"""Values that answers hold as they are, described by a type for the OpenAPI document alone.

What engines and people have stored is neither checked nor converted on its way out: answers stay equal to the byte, whatever version of the
engine made the value.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, GetJsonSchemaHandler, TypeAdapter, with_config
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypeAliasType


class AsIs:
    """Annotation of a field that takes anything and is served unchanged. described_by: the type that the JSON Schema shows."""

    def __init__(self, described_by: Any) -> None:
        self.described_by = described_by

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        items: JsonSchemaValue = handler(TypeAdapter(list[self.described_by]).core_schema)["items"]  # in a list a named type is a reference
        return items


EXACT = with_config(ConfigDict(extra="forbid"))
"""Decorator of a TypedDict that has no other fields than those it names."""

JsonTree = TypeAliasType("Json", "bool | float | str | list[Json] | dict[str, Json] | None")
Json = Annotated[Any, AsIs(JsonTree)]
JsonObject = Annotated[dict[str, Any], AsIs(dict[str, JsonTree])]
