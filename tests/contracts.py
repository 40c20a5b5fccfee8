"""What every operator kind promises, from inside the package or not."""

from __future__ import annotations

import inspect

from engine.core.prices import PRICE_LISTS
from engine.core.weave import POINTS, has_kernel, woven_text
from engine.spec import catalogue
from engine.spec.operator import Operator


def assert_operator_contract(operator: type[Operator]) -> None:
    """Raises AssertionError with the first promise that is broken."""
    kind = operator.kind
    shown = next(entry for entry in catalogue()["operators"] if entry["kind"] == kind)
    assert all(shown[text] for text in ("title", "group", "icon", "doc")), shown
    assert len({*operator.inputs}) == len(operator.inputs)
    assert len({*operator.outputs}) == len(operator.outputs)
    assert operator.inputs or operator.outputs
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
