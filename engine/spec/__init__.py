"""The experiment document: its models, its kinds, and what is wrong with one. Imports no family of kinds."""

from .cluster import ExpandedHost
from .experiment import FORMAT, Experiment, canonical_json
from .operator import Kind, Model, Operator
from .problems import InvalidExperiment, Problem, Refusal
from .records import FIELD_BYTES, FieldType, RecordField, RecordSchema
from .workload import DatasetInfo

__all__ = [
    "FIELD_BYTES",
    "FORMAT",
    "DatasetInfo",
    "ExpandedHost",
    "Experiment",
    "FieldType",
    "InvalidExperiment",
    "Kind",
    "Model",
    "Operator",
    "Problem",
    "RecordField",
    "RecordSchema",
    "Refusal",
    "canonical_json",
]
