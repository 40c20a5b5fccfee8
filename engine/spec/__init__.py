"""The experiment document: its models, kinds and validation. Imports no family of kinds."""

from .base.operator import Kind, Model, Operator
from .base.problems import InvalidExperiment, Problem, Refusal
from .base.records import FIELD_BYTES, FieldType, RecordField, RecordSchema
from .experiment.cluster import ExpandedHost
from .experiment.document import parse_document, read_document, upgrade
from .experiment.experiment import FORMAT, Experiment, canonical_json
from .experiment.registry import catalogue
from .experiment.streams import DatasetInfo
from .expressions.parser import Expression, ExpressionRefusal, parse
from .rules.resources import Budgets
from .rules.validation import Context, Findings, examine, load, placement_of, schemas, validate

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
