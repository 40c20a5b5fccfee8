"""Whatever is sent, the server answers, and never with an unknown error. Catches: JSON that a database cannot hold, and crashes."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webapp.lab.models import Experiment

from .conftest import RedisProcess, new_run, small_document

pytestmark = pytest.mark.django_db

ODD = st.sampled_from(
    [
        "",
        "\x00",
        "\ud800",
        "🙂",
        "﷽",
        "' OR 1=1 --",
        "a" * 5000,
        2**63,
        -(2**70),
        10**300,
        1e308,
        float("nan"),
        float("-inf"),
        -0.0,
        None,
        True,
    ]
)
ANY_JSON = st.recursive(
    ODD | st.text() | st.integers() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from(["document", "version", "seed", "name", "pace", "frames"]), inner, max_size=4)
    ),
    max_leaves=20,
)
EXAMPLES = settings(
    max_examples=settings.default.max_examples // 3,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def answered(client: Client, method: str, path: str, body: Any) -> int:
    """The status, after a look at the answer."""
    text = json.dumps(body).encode()
    answer = getattr(client, method)(path, text, content_type="application/json")
    assert answer.status_code < 500, (method, path, body, answer.content[:300])
    if answer.status_code != 204:
        json.loads(answer.content)
    return int(answer.status_code)


@EXAMPLES
@given(body=ANY_JSON)
def test_any_body(client: Client, experiment: Experiment, redis: RedisProcess, body: Any) -> None:
    run = new_run(experiment)
    answered(client, "post", "/api/validate", body)
    answered(client, "post", "/api/preview", body)
    answered(client, "post", "/api/experiments", body)
    answered(client, "put", f"/api/experiments/{experiment.pk}", body)
    answered(client, "post", f"/api/experiments/{experiment.pk}/runs", body)
    answered(client, "post", "/api/runs/bulk", body)
    for action in ("pause", "step", "resume", "pace"):
        answered(client, "post", f"/api/runs/{run.pk}/{action}", body)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all values of a tree."""
    found = [path] if path else []
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in children:
        found += places(value, (*path, key))
    return found


@EXAMPLES
@given(data=st.data(), value=ANY_JSON)
def test_a_document_with_anything_in_any_place_is_stored_or_refused(
    client: Client, experiment: Experiment, redis: RedisProcess, data: st.DataObject, value: Any
) -> None:
    document = small_document()
    *way, last = data.draw(st.sampled_from(places(document)))
    parent = document
    for key in way:
        parent = parent[key]
    parent[last] = value
    experiment.refresh_from_db()
    status = answered(client, "put", f"/api/experiments/{experiment.pk}", {"version": experiment.version, "document": document})
    assert status in (200, 422)
    answered(client, "post", f"/api/experiments/{experiment.pk}/runs", {})
    for path in ("/api/runs", "/api/experiments", f"/api/experiments/{experiment.pk}"):
        assert client.get(path).status_code == 200


@EXAMPLES
@given(
    query=st.dictionaries(
        st.sampled_from(["search", "state", "limit", "offset", "experiment", "tag", "sort", "other"]), st.text(max_size=300), max_size=4
    )
)
def test_any_query(client: Client, query: dict[str, str]) -> None:
    query = {name: value.encode("utf-8", "replace").decode() for name, value in query.items()}
    assert client.get("/api/runs", query).status_code in (200, 422)


@pytest.mark.parametrize("path", ["/api/registry", "/api/schema"])
def test_what_is_large_and_the_same_for_all_is_compressed_for_who_wants_it(client: Client, path: str) -> None:
    plain, packed = client.get(path), client.get(path, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 4
    assert "Content-Encoding" not in client.get("/api/me", headers={"Accept-Encoding": "gzip"}).headers
