"""The OpenAPI document: Ninja's own, plus the shape of all error responses and the WebSocket messages."""

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
    """Error response. detail: one sentence. problems: the individual problems, if any."""

    detail: str
    problems: list[Problem]


REFUSED = {
    "description": "Refused: 400 malformed, 401 not signed in, 403 not allowed, 404 not found, 409 conflict with the current state, "
    "413 too large, 422 invalid values, 429 too many attempts",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}
BESIDES = {"Refusal": Refusal, "RunMessage": RunMessage, "NewsMessage": NewsMessage}
"""Components that no single route returns: the errors of all routes, and the messages of /ws/runs/{id} and /ws/news."""


class Api(NinjaAPI):
    def get_openapi_schema(self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None) -> OpenAPISchema:
        document = Document(self, self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["responses"]["4XX"] = REFUSED
        return document


class AnswerSchema(NinjaGenerateJsonSchema):
    """Responses contain all fields, including those with defaults."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field["type"] == "model-field" or bool(super().field_is_required(field, total))


class Document(OpenAPISchema):
    """Ninja's document, with response types as serialised. A type that also occurs in requests is described as requests may give it."""

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
        """Components of responses, by name."""
        return {}

    def described(self, type: TypeAdapter[Any]) -> dict[str, Any]:
        """Return the JSON Schema of a response type, and collect the types it refers to."""
        schema = type.json_schema(mode="serialization", ref_template=REF_TEMPLATE, schema_generator=AnswerSchema)
        self.answers.update(schema.pop("$defs", {}))
        return schema
