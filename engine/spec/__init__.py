"""The experiment document: its models, its kinds, and what is wrong with one. Imports no family of kinds."""

from .cluster import ExpandedHost
from .document import parse_document, read_document, upgrade
from .experiment import FORMAT, Experiment, canonical_json
from .expressions import Expression, ExpressionRefusal, parse
from .operator import Kind, Model, Operator
from .problems import InvalidExperiment, Problem, Refusal
from .records import FIELD_BYTES, FieldType, RecordField, RecordSchema
from .registry import catalogue
from .resources import Budgets
from .streams import DatasetInfo
from .validation import Context, Findings, examine, load, placement_of, schemas, validate

__all__ = [
    "FIELD_BYTES",
    "FORMAT",
    "Budgets",
    "Context",
    "DatasetInfo",
    "ExpandedHost",
    "Experiment",
    "Expression",
    "ExpressionRefusal",
    "FieldType",
    "Findings",
    "InvalidExperiment",
    "Kind",
    "Model",
    "Operator",
    "Problem",
    "RecordField",
    "RecordSchema",
    "Refusal",
    "canonical_json",
    "catalogue",
    "examine",
    "load",
    "parse",
    "parse_document",
    "placement_of",
    "read_document",
    "schemas",
    "upgrade",
    "validate",
]
