"""The operator kinds, one file each.

Other packages add kinds with `register`, or with an entry point of the group `millrace.operators` that names the class. An entry point
makes the kind known to every process that reads documents.
"""

import importlib
import pkgutil
import re

from engine.core.weave import has_kernel, woven_text
from engine.prices import PRICE_LISTS
from engine.spec.base.family import load_entry_points
from engine.spec.base.operator import Operator

_modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
_ours = {
    value
    for module in _modules
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Operator) and value.__module__ == module.__name__ and "kind" in vars(value)
}

OPERATORS: dict[str, type[Operator]] = {kind.kind: kind for kind in sorted(_ours, key=lambda kind: (kind.position, kind.kind))}
"""By kind, in display order."""

BUILT_IN = tuple(OPERATORS)
"""Kinds that come with Millrace."""

ENTRY_POINTS = "millrace.operators"


def register(operator: type[Operator]) -> type[Operator]:
    """Register a kind from another package, for palette, forms, validation and the event loop. Raises ValueError if it is invalid."""
    if not (isinstance(operator, type) and issubclass(operator, Operator)):
        raise ValueError(f"{operator!r} is not a subclass of engine.spec.base.operator.Operator")
    name, kind = f"{operator.__module__}.{operator.__qualname__}", getattr(operator, "kind", "")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", kind):
        raise ValueError(f"the kind of {name} is {kind!r}; use at most 63 lower-case letters, digits and '_', starting with a letter")
    if OPERATORS.get(kind, operator) is not operator:
        raise ValueError(f"the kind of {name} is '{kind}', which {OPERATORS[kind].__module__} already uses; choose another")
    if not getattr(operator, "title", "") or not operator.__doc__:
        raise ValueError(f"{name} needs a title and a docstring; both are shown to users")
    if not has_kernel(operator):
        raise ValueError(f"{name} has no kernel; at least on_record must be a static method")
    for list_name, prices in PRICE_LISTS.items():
        if kind not in prices.prices and operator.priced_as not in prices.prices:
            raise ValueError(
                f"price list '{list_name}' has no price for kind '{kind}': priced_as is '{operator.priced_as}'; "
                f"it must be one of {', '.join(prices.prices)}"
            )
    woven_text({kind: operator})  # refuses arguments that the event loop does not provide
    OPERATORS[kind] = operator
    return operator


load_entry_points(ENTRY_POINTS, register)
