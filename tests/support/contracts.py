"""What every operator kind promises, from inside the package or not."""

from __future__ import annotations

import inspect
import os
import warnings
from typing import Any
from unittest import mock

import numpy as np

import engine
from engine.core.weave import POINTS, has_kernel, woven_text
from engine.prices import PRICE_LISTS
from engine.spec import catalogue
from engine.spec.base.operator import Operator


def assert_operator_contract(operator: type[Operator]) -> None:
    """Raises AssertionError with the first promise that is broken."""
    kind = operator.kind
    shown = next(entry for entry in catalogue()["operators"] if entry["kind"] == kind)
    assert all(shown[text] for text in ("title", "group", "icon", "doc")), shown
    assert len({*operator.inputs}) == len(operator.inputs)
    assert len({*operator.outputs}) == len(operator.outputs)
    assert operator.inputs or operator.outputs
    assert {*operator.inputs}.isdisjoint(operator.outputs), "ports are named once: records in and out have schemas by port"
    schema = shown["schema"]
    assert schema["additionalProperties"] is False
    for model in [schema, *schema.get("$defs", {}).values()]:
        for name, field in model.get("properties", {}).items():
            described = {**schema.get("$defs", {}).get(str(field.get("$ref", "")).removeprefix("#/$defs/"), {}), **field}
            assert name == "kind" or described.get("description"), (kind, model["title"], name)
    for prices in PRICE_LISTS.values():
        price = prices.price(kind, operator.priced_as)
        assert min(price.record_ps, price.output_ps, price.control_ps) >= 0
    assert not operator.loses_state(), f"'{kind}' has state and has to say by `keeping` how to keep it, whatever its group"
    assert operator.group != "Stateful" or operator.keeping is not None, f"'{kind}' is stateful and has to say by `keeping` how to keep it"
    if has_kernel(operator):
        assert "Cost:" in shown["doc"], "what is counted stands in the docstring"
        woven_text({kind: operator})
        for point in POINTS:
            if hasattr(operator, point):
                assert isinstance(inspect.getattr_static(operator, point), staticmethod)
                assert inspect.getdoc(getattr(operator, point))


def assert_the_same_without_the_compiler(document: Any, **options: Any) -> None:
    """Run the experiment compiled and as plain Python: services, deliveries, frames and digest must be the same, without a warning."""
    runs = []
    for compiles in ("1", "0"):
        with mock.patch.dict(os.environ, MILLRACE_COMPILE=compiles), warnings.catch_warnings():
            warnings.simplefilter("error")
            simulation = engine.Simulation(document, trace=True, keep_outputs=True, **options)
            frames = []
            while (frame := simulation.advance()) is not None:
                frames.append(frame)
            runs.append((simulation, frames, simulation.digest(), simulation.summary() | {"wall_s": 0}))
    (compiled, *of_compiled), (plain, *of_plain) = runs
    assert compiled.summary()["hops"] > 0
    assert of_plain == of_compiled
    assert plain.deliveries() == compiled.deliveries()
    assert np.array_equal(plain.service_trace(with_trigger=True), compiled.service_trace(with_trigger=True))
