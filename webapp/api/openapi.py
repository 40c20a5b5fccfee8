"""The OpenAPI document: what Ninja finds out by itself, and the one shape of all refusals."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

PROBLEM = {
    "type": "object",
    "description": "A finding: where (JSON pointer), what, the value found, and what would be right.",
    "required": ["pointer", "code", "message", "value", "hint", "severity"],
    "properties": {
        "pointer": {"type": "string"},
        "code": {"type": "string"},
        "message": {"type": "string"},
        "value": {},
        "hint": {"type": "string"},
        "severity": {"enum": ["error", "warning"]},
    },
}
REFUSAL = {
    "type": "object",
    "description": "Why something was not done, as a sentence, and in detail where there is more than one thing to say.",
    "required": ["detail", "problems"],
    "properties": {"detail": {"type": "string"}, "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}},
}
REFUSED = {
    "description": "Not done: 400 unreadable, 401 nobody known asks, 403 not allowed, 404 not there, 409 not in this state, 413 too large, "
    "422 wrong values, 429 too many tries",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}


class Api(NinjaAPI):
    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**options)
        document["components"]["schemas"] |= {"Problem": PROBLEM, "Refusal": REFUSAL}
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["responses"]["4XX"] = REFUSED
        return document
