"""What is refused of a document's part on scaling, by its models alone: the field, the value, and what would be right."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from engine.spec.scaling import AnyScaling

SCALING: TypeAdapter[Any] = TypeAdapter(AnyScaling)


def refused(document: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as failure:
        SCALING.validate_python(document)
    return str(failure.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"kind": "manual", "operators": {"a": {"min": 5, "max": 4}}}, "max is 4, less than min, 5"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {"a": 2}}] * 2}, "at_s is 5 in two orders"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {}}]}, "at least 1 item"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {"a": 0}}]}, "greater than or equal to 1"),
        ({"kind": "manual", "slo_s": 0}, "greater than 0"),
        ({"kind": "ds2", "every_s": 12}, "every_s is 12; it must be a multiple of scrape_s, 5"),
        ({"kind": "ds2", "every_s": 2}, "every_s is 2; it must be a multiple of scrape_s, 5"),
        ({"kind": "ds2", "metrics": {"window_s": 5}}, "window_s is 5, .* a multiple of it, at least twice as long"),
        ({"kind": "ds2", "metrics": {"window_s": 12}}, "window_s is 12"),
        ({"kind": "ds2", "metrics": {"meter_s": 61}}, "meter_s is 61"),
        ({"kind": "ds2", "over_provisioning": 0.9}, "greater than or equal to 1"),
        ({"kind": "dhalion", "keep": 1}, "less than 1"),
        ({"kind": "dhalion", "beta_max": 1}, "less than 1"),
        ({"kind": "flink", "utilization_min": 0.7}, "utilization_min is 0.7, and the target is 0.7; it must be below it"),
        ({"kind": "flink", "utilization_max": 0.65}, "utilization_max is 0.65, and the target is 0.7; it must be above it"),
        ({"kind": "flink", "preset": "tuned", "utilization_target": 0.9}, "utilization_max is 0.8, and the target is 0.9"),
        ({"kind": "flink", "utilization_target": 0}, "utilization_target is 0, for which no parallelism would be enough"),
        ({"kind": "flink", "parallelism_min": 300}, "parallelism_max is 200, less than parallelism_min, 300"),
        ({"kind": "fixed", "for": "mean"}, "per_input is empty, and the least parallelism for the mean of the load follows from it"),
        ({"kind": "oracle"}, "per_input is empty"),
        ({"kind": "hpa_cpu", "target": 0}, "greater than 0"),
        ({"kind": "hpa_cpu", "cooldown": 3}, "cooldown"),
    ],
)
def test_refused(document: dict[str, Any], words: str) -> None:
    assert re.search(words, refused(document))


def test_taken() -> None:
    assert SCALING.validate_python({"kind": "none"}).kind == "none"
    assert SCALING.validate_python({"kind": "hpa_cpu", "cooldown_s": 0}).cooldown_s == 0
    assert SCALING.validate_python({"kind": "oracle", "drain_s": None, "per_input": {"a": 1}}).drain_s is None
    written = SCALING.validate_python({"kind": "fixed", "for": "maximum", "per_input": {"a": 1}}).model_dump(by_alias=True)
    assert SCALING.validate_python(written).for_ == "maximum"


def test_every_field_has_a_title_and_a_help() -> None:
    """Forms are drawn from them."""
    schema = SCALING.json_schema()
    for model in schema["$defs"].values():
        for name, field in model["properties"].items():
            if name != "kind":
                assert field.get("title") or "$ref" in field, (model["title"], name)
                assert field.get("description"), (model["title"], name)
        assert model["additionalProperties"] is False
