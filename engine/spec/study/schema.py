"""Schemas for the forms of studies."""

from __future__ import annotations

from typing import Any

from ..experiment.registry import variant_entry
from ..experiment.workload import variants
from .study import AnyDesign, AnySearch, AnyValues, Study


def study_schema() -> dict[str, Any]:
    """Return `document`, its JSON Schema; `values`, `designs`, `searches`: kinds as in `catalogue`."""
    families = {"values": AnyValues, "designs": AnyDesign, "searches": AnySearch}
    kinds = {family: [variant_entry(family, member) for member in variants(union)] for family, union in families.items()}
    return {"document": Study.model_json_schema(), **kinds}
