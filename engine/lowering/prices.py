"""Prices of an operator's services (docs/event-core.md, sections 3 and 3.3): from the price list, or the operator's own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words
from engine.operators import OPERATORS
from engine.prices import DEGREE, PRICE_LISTS
from engine.spec import Experiment, RecordSchema
from engine.spec.experiment.query import OperatorSpec

Schemas = Mapping[str, RecordSchema]
"""All fields of the records on every port, by "operator.port"."""


def operator_prices(
    experiment: Experiment, spec: OperatorSpec, n: int, schemas: Schemas, edge: Words, weights: tuple[int, int]
) -> dict[int, int]:
    """Prices of operator n by column, including those of the checkpointing protocol. weights: of input and output records."""
    own, (weight, weight_out) = spec.cost, weights
    kind = OPERATORS[spec.kind]
    price = PRICE_LISTS[experiment.prices].price(spec.kind, kind.priced_as)
    record_ps, protocol_ps, inner_ps = _protocol_work(experiment, edge, n, _record_ps(experiment, spec, schemas, weight))
    output_ps = price.output_ps if own is None or own.output_ps is None else own.output_ps
    control_ps = price.control_ps if own is None or own.control_ps is None else own.control_ps
    read_ps = record_ps if kind.reads_as_records else kind.read_ps * weight ** DEGREE["read_ps"]
    if price.read_ps is not None and (own is None or own.record_ps is None):
        read_ps = price.read_ps * weight ** DEGREE["read_ps"]
    return {
        L.O_RECORD_PS: record_ps,
        L.O_READ_PS: read_ps,
        L.O_OUTPUT_PS: output_ps * weight_out ** DEGREE["output_ps"] + protocol_ps,
        L.O_CONTROL_PS: control_ps * weight ** DEGREE["control_ps"],
        L.O_INNER_PS: inner_ps,
        L.O_WEIGHT: weight,
        L.O_WEIGHT_OUT: weight_out,
    }


def crossing_prices(experiment: Experiment, schema: RecordSchema, weight: int) -> dict[int, int]:
    """Prices of an edge by column: of a record with these fields that crosses to another host."""
    values = PRICE_LISTS[experiment.prices].values
    count = len(schema.fields) * weight ** DEGREE["value_ps"]
    return {L.E_SENT_PS: values.sent_ps * count, L.E_RECEIVED_PS: values.received_ps * count}


def serialises(experiment: Experiment) -> bool:
    """Whether records that cross to another host cost anything for it."""
    values = PRICE_LISTS[experiment.prices].values
    return values.sent_ps > 0 or values.received_ps > 0


def record_ns(experiment: Experiment, spec: OperatorSpec, schemas: Schemas, weight: int, speed_milli: int) -> int:
    """Service time of one simulated record in ns: usual work, without cost variation or serialisation.

    weight: real records per simulated record. speed_milli: of the host, in thousandths.
    """
    work_ps = _record_ps(experiment, spec, schemas, weight) * OPERATORS[spec.kind].usual_work(spec.parameters)
    work_ns = max(1, -(-work_ps // speed_milli))
    return (work_ns << 16) // (L.WHOLE if spec.cost is None else spec.cost.attainable_share)


def _record_ps(experiment: Experiment, spec: OperatorSpec, schemas: Schemas, weight: int) -> int:
    """Price of serving a record that stands for `weight` real ones, with its values, without the protocol's share."""
    own = None if spec.cost is None else spec.cost.record_ps
    kind, prices = OPERATORS[spec.kind], PRICE_LISTS[experiment.prices]
    ps: int = (prices.price(spec.kind, kind.priced_as).record_ps if own is None else own) * weight ** DEGREE["record_ps"]
    if own is None:
        inputs = {port: schemas[f"{spec.id}.{port}"] for port in kind.inputs}
        compared = sum(prices.values.compared_ps.get(type, 0) for type in kind.compares(spec.parameters, inputs))
        parsed = 0 if kind.inputs else prices.values.parsed_ps * len(schemas[f"{spec.id}.out"].fields)
        ps += (compared + parsed) * weight ** DEGREE["value_ps"]
    return ps


def _protocol_work(experiment: Experiment, edge: Words, n: int, record_ps: int) -> tuple[int, int, int]:
    """Work of operator n under the checkpointing protocol, in ps: per record served; added per output (logging it on each edge, writing
    and reading the protocol's data); added per output while inner edges are logged."""
    protocol = experiment.policies.checkpointing
    leaving, entering = edge[edge[:, L.E_SOURCE] == n], edge[edge[:, L.E_TARGET] == n]
    log_ps = record_ps * protocol.log_work
    inner = np.count_nonzero(leaving[:, L.E_INNER])
    inner_ps, added_ps = log_ps * inner, log_ps * (len(leaving) - inner)
    work_ps = protocol.added_work(record_ps, sum(spec.parallelism for spec in experiment.query.operators))
    added_ps += work_ps * len(leaving)
    if len(entering):
        record_ps += int(work_ps)
    return record_ps, int(added_ps), int(inner_ps)
