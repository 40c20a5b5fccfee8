"""The OpenAPI document: what Ninja finds out by itself, the one shape of all refusals, and what the WebSockets send."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ninja import NinjaAPI, Schema
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.schema import NinjaGenerateJsonSchema
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from webapp.lab.schemas import Problem
from webapp.live.messages import NewsMessage, RunMessage


class Refusal(Schema):
    """Why something was not done, as a sentence, and in detail where there is more than one thing to say."""

    detail: str
    problems: list[Problem]


REFUSED = {
    "description": "Not done: 400 unreadable, 401 nobody known asks, 403 not allowed, 404 not there, 409 not in this state, 413 too large, "
    "422 wrong values, 429 too many tries",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}
BESIDES = {"Refusal": Refusal, "RunMessage": RunMessage, "NewsMessage": NewsMessage}
"""Components that are no route's answer: of every route, and of the sockets /ws/runs/{id} and /ws/news."""


class Api(NinjaAPI):
    def get_openapi_schema(self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None) -> OpenAPISchema:
        document = Document(self, self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["responses"]["4XX"] = REFUSED
        return document


class AnswerSchema(NinjaGenerateJsonSchema):
    """Answers have all fields, those with defaults, too."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] == "model-field" or bool(super().field_is_required(field, total))


class Document(OpenAPISchema):
    """Ninja's document, with answers as they are sent. A type that requests hold, too, is described as they may give it."""

    def get_components(self) -> dict[str, Any]:
        for name, type in BESIDES.items():
            self.answers[name] = self.described(TypeAdapter(type))
        return super().get_components() | {"schemas": self.answers | self.schemas}

    def _create_schema_from_model(
        self, model: Any, by_alias: bool = True, remove_level: bool = True, mode: JsonSchemaMode = "validation"
    ) -> tuple[dict[str, Any], bool]:
        if mode == "validation":
            return super()._create_schema_from_model(model, by_alias, remove_level, mode)
        return self.described(TypeAdapter(model))["properties"]["response"], True

    @cached_property
    def answers(self) -> dict[str, Any]:
        """Components of answers, by name."""
        return {}

    def described(self, type: TypeAdapter[Any]) -> dict[str, Any]:
        """JSON Schema of an answer; the types that it refers to are noted."""
        schema = type.json_schema(mode="serialization", ref_template=REF_TEMPLATE, schema_generator=AnswerSchema)
        self.answers.update(schema.pop("$defs", {}))
        return schema
