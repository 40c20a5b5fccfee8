"""All kinds that a document can use, by family.

Operator kinds and price lists live in leaf files of other packages and are loaded by name on first use. So `engine.spec` imports no family,
and the web process reads documents without loading the engine. Kinds of other packages are loaded on first use as well.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

from ..base.family import Family, kind_of, load_entry_points
from ..base.operator import Operator
from ..base.operator_kinds import UnknownKind as UnknownKind
from ..base.operator_kinds import operator as operator
from ..base.operator_kinds import operators as operators
from ..base.variant import Variant
from ..expressions import assertions
from ..expressions.functions import FUNCTIONS, Function
from .arrivals import ARRIVALS
from .balancings import BALANCINGS
from .checkpointing import CHECKPOINTINGS
from .cluster import AnyProcessor
from .delays import DISORDERS
from .drifts import DRIFTS
from .engines import ENGINES
from .experiment import Experiment
from .faults import FAULTS
from .flow_control import FLOW_CONTROLS
from .generation import AnyGeneration
from .ingress import INGRESSES
from .memory import AnyMemory, AnySlowDown
from .metrics import QUANTITIES, Quantity
from .noises import NOISES
from .occurrences import OCCURRENCES
from .partitionings import PARTITIONINGS
from .placement import PLACEMENTS
from .rates import RATES
from .rescaling import RESCALINGS
from .retention import AnyRetention
from .scaling import SCALINGS
from .scheduling import SCHEDULINGS
from .snapshots import AnySnapshots
from .states import STATES
from .streams import STREAMS, Stream
from .warmups import WARMUPS
from .workload import AnyWatermarks, variants

FAMILIES: dict[str, Family | tuple[type[Variant], ...]] = {
    "streams": STREAMS,
    "rates": RATES,
    "arrivals": ARRIVALS,
    "disorders": DISORDERS,
    "watermarks": variants(AnyWatermarks),
    "retentions": variants(AnyRetention),
    "generations": variants(AnyGeneration),
    "noises": NOISES,
    "drifts": DRIFTS,
    "warmups": WARMUPS,
    "partitionings": PARTITIONINGS,
    "processors": variants(AnyProcessor),
    "placements": PLACEMENTS,
    "faults": FAULTS,
    "occurrences": OCCURRENCES,
    "engines": ENGINES,
    "flow_controls": FLOW_CONTROLS,
    "ingresses": INGRESSES,
    "checkpointings": CHECKPOINTINGS,
    "snapshots": variants(AnySnapshots),
    "scalings": SCALINGS,
    "rescalings": RESCALINGS,
    "schedulings": SCHEDULINGS,
    "balancings": BALANCINGS,
    "states": STATES,
    "memories": variants(AnyMemory),
    "slow_downs": variants(AnySlowDown),
}
"""Families whose kinds form a tagged union in the document. Other packages can add kinds to those of type `Family`."""


def members(family: str) -> tuple[type[Variant], ...]:
    """The kinds of one of `FAMILIES`, including those of other packages."""
    load_packages()
    found = FAMILIES[family]
    return found.kinds if isinstance(found, Family) else found


@lru_cache(maxsize=1)
def load_packages() -> None:
    """Register the kinds of installed packages. A kind that cannot be loaded is logged and skipped."""
    for family in FAMILIES.values():
        if isinstance(family, Family):
            load_entry_points(f"millrace.{family.name}", family.register)


def document_schema() -> dict[str, Any]:
    """JSON Schema of the document, including registered kinds of other packages."""
    load_packages()
    return Experiment.model_json_schema()


def price_lists() -> Mapping[str, Any]:
    """Price lists by name; each has `title` and `doc`."""
    lists: Mapping[str, Any] = importlib.import_module("engine.prices").PRICE_LISTS
    return lists


def kinds(family: str) -> tuple[str, ...]:
    """Names of the kinds of one family, in display order."""
    if family == "operators":
        return tuple(operators())
    if family == "prices":
        return tuple(price_lists())
    return tuple(kind_of(variant) for variant in members(family))


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Entries shown in palettes, forms and API docs, by family.

    An entry has kind, title, family, group, icon, doc, source, schema (JSON Schema of its parameters, without `kind`), inputs and outputs.
    A stream with a fixed schema also has its fields, an expression function its signatures and an example, a kind with `facts` those facts,
    a measurement its unit and type.
    """
    listing: dict[str, list[dict[str, Any]]] = {"operators": [_operator_entry(kind, entry) for kind, entry in operators().items()]}
    for family in FAMILIES:
        listing[family] = [variant_entry(family, member) for member in members(family)]
    listing["prices"] = [_entry("prices", name, prices.title, prices.doc) for name, prices in price_lists().items()]
    listing["functions"] = [_function_entry(function) for function in FUNCTIONS.values()]
    listing["measurements"] = [_measurement_entry(name, quantity) for name, quantity in QUANTITIES.items()]
    listing["assertion_functions"] = [
        _entry("assertion_functions", name, _call_text(name, function), function.help) for name, function in assertions.FUNCTIONS.items()
    ]
    return listing


def _operator_entry(kind: str, operator: type[Operator]) -> dict[str, Any]:
    entry = _entry("operators", kind, operator.title, inspect.getdoc(operator) or "")
    entry.update(group=operator.group, icon=operator.icon, source=operator.source, schema=operator.Params.model_json_schema())
    entry.update(inputs=list(operator.inputs), outputs=list(operator.outputs))
    return entry


def variant_entry(family: str, variant: type[Variant]) -> dict[str, Any]:
    """Return the catalogue entry of a kind (see `catalogue`)."""
    schema = variant.model_json_schema()
    if "$ref" in schema:  # a recursive kind, which can contain its own family
        schema = {**deepcopy(schema["$defs"][variant.__name__]), "$defs": schema["$defs"]}
    schema["properties"].pop("kind")
    entry = _entry(family, kind_of(variant), variant.title, inspect.getdoc(variant) or "")
    entry.update(group=variant.group, icon=variant.icon, source=variant.source, schema=schema)
    if issubclass(variant, Stream) and variant.schema_fixed is not None:
        entry["fields"] = [{"name": field.name, "type": field.type} for field in variant.schema_fixed.fields]
    return entry | {name: getattr(variant, name) for name in variant.facts}


def _function_entry(function: Function) -> dict[str, Any]:
    about = function.as_dict()
    entry = _entry("functions", function.name, f"{function.name}()", function.help)
    return entry | {name: about[name] for name in ("group", "example", "signatures")}


def _measurement_entry(name: str, quantity: Quantity) -> dict[str, Any]:
    return _entry("measurements", name, name, quantity.about) | {"unit": quantity.unit, "type": quantity.type}


def _call_text(name: str, function: assertions.Function) -> str:
    arguments, _ = function.signatures[0]
    return f"{name}({', '.join(arguments)}{', ...' if function.repeated else ''})"


def _entry(family: str, kind: str, title: str, doc: str) -> dict[str, Any]:
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    return {
        "kind": kind,
        "title": title,
        "family": family,
        "group": "",
        "icon": "",
        "doc": doc,
        "source": "",
        "schema": empty,
        "inputs": [],
        "outputs": [],
    }
