"""The API held against its own OpenAPI document by Schemathesis: what the document allows, and what it does not.

Catches: an error of the server, a status or a body that the document does not tell of, and wrong values that are taken all the same. As
many requests a route as MILLRACE_CONFORMANCE_EXAMPLES says; a soak takes some hundred.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from pydantic import BaseModel
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.tiers import tier
from webapp.accounts.models import ApiToken
from webapp.accounts.rights import Right
from webapp.lab.models import Study
from webapp.lab.people import member

from .study_examples import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.one_database, pytest.mark.usefixtures("one_connection")]

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
HEALTH = "/api/health"  # 503 without a worker, as the document says
CONFIG = schemathesis.Config.from_dict({"generation": {"allow-extra-parameters": False}})  # unknown ones of an address are ignored
EXAMPLES = int(os.environ.get("MILLRACE_CONFORMANCE_EXAMPLES", tier(ci="1", all="3")))
SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize="MILLRACE_CONFORMANCE_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_route_does_what_the_document_says(mode: GenerationMode, things: dict[str, Any]) -> None:
    """Asked by an owner's program, about things that there are and about others. What one request does is undone before the next."""
    Study.objects.update(document=sweep([500.0], [1]))
    token = ApiToken.issue(member("ada"), "conformance", Right.ADMIN)[1]
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}  # Schemathesis does not unpack what it asks for
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application(), config=CONFIG)
    failures: list[str] = []
    for result in schema.get_all_operations():
        operation = result.ok()
        there = {name: str(things[name]) for name in re.findall(r"{(\w+)}", operation.path)} if mode.is_positive else {}
        cases = operation.as_strategy(generation_mode=mode)
        if there:
            cases |= operation.as_strategy(generation_mode=mode, path_parameters=there)

        @SETTINGS
        @given(case=cases)
        def conforms(case: Case) -> None:
            with transaction.atomic():
                answer = case.call(headers=headers)
                transaction.set_rollback(True)
            told = [*CHECKS, negative_data_rejection] if mode.is_negative else CHECKS
            case.validate_response(answer, checks=[*told, not_a_server_error] if case.path != HEALTH else told, headers=headers)

        try:
            conforms()
        except Unsatisfiable:  # nothing of a route without parameters can be wrong
            assert mode.is_negative
        except BaseException as failure:
            failures.append(f"{operation.label}: {failure}")
    assert not failures, "\n\n".join(failures)


def test_no_two_shapes_have_one_name() -> None:
    """The document has a place for each name only: of two the one would be told for the other."""
    known: dict[str, set[type]] = defaultdict(set)
    for model in shapes(BaseModel):
        if model.__module__.startswith(("webapp.api", "webapp.lab")):
            known[model.__name__].add(model)
    told = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application()).raw_schema["components"]["schemas"]
    assert len(told) > 40
    assert {name for name, models in known.items() if name in told and len(models) > 1} == set()


def shapes(base: type) -> Iterator[type]:
    for shape in base.__subclasses__():
        yield shape
        yield from shapes(shape)
