"""Records of two engines, compared one by one as multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

SHOWN = 20
SUMS_RTOL = 1e-12


@dataclass(frozen=True)
class Difference:
    """of_model, of_spark: numbers of records. only_model, only_spark: the first of those that the other does not have, as many times."""

    of_model: int
    of_spark: int
    differing: int
    only_model: tuple[dict[str, Any], ...] = ()
    only_spark: tuple[dict[str, Any], ...] = ()

    @property
    def equal(self) -> bool:
        return self.differing == 0

    def as_dict(self) -> dict[str, Any]:
        return {"equal": self.equal} | asdict(self)


def difference(of_model: pa.Table, of_spark: pa.Table, sums: Collection[str] = ()) -> Difference:
    """Both tables have the same columns. Floats are compared bit by bit, but for sums: columns of floats that were added up in another
    order, so that their last bits may differ."""
    exact = [name for name in of_model.column_names if name not in sums]
    ours, theirs = _rows(of_model, exact), _rows(of_spark, exact)
    only_model, only_spark = ours - theirs, theirs - ours
    count = max(only_model.total(), only_spark.total())
    if not count and sums:
        order = [(name, "ascending") for name in [*exact, *sums]]
        tables = of_model.sort_by(order), of_spark.sort_by(order)
        far = np.zeros(of_model.num_rows, bool)
        for name in sums:
            a, b = (table[name].to_numpy() for table in tables)
            far |= ~np.isclose(a, b, rtol=SUMS_RTOL, atol=0, equal_nan=True)
        chosen = np.flatnonzero(far)
        shown = [tuple(table.take(pa.array(chosen[:SHOWN])).to_pylist()) for table in tables]
        return Difference(of_model.num_rows, of_spark.num_rows, len(chosen), shown[0], shown[1])
    floats = {name for name in exact if pa.types.is_floating(of_model.schema.field(name).type)}
    return Difference(of_model.num_rows, of_spark.num_rows, count, *(_shown(rows, exact, floats) for rows in (only_model, only_spark)))


def _rows(table: pa.Table, names: Collection[str]) -> Counter[tuple[Any, ...]]:
    """How often each row is there; floats as the words of their bits."""
    columns = []
    for name in names:
        column = table[name].combine_chunks()
        is_float = pa.types.is_floating(column.type)
        columns.append(column.to_numpy(zero_copy_only=False).view(np.int64).tolist() if is_float else column.to_pylist())
    return Counter(zip(*columns, strict=True)) if columns else Counter({(): table.num_rows})


def _shown(rows: Counter[tuple[Any, ...]], names: Collection[str], floats: Collection[str]) -> tuple[dict[str, Any], ...]:
    first = sorted(rows.elements(), key=repr)[:SHOWN]
    return tuple(
        {name: float(np.int64(value).view(np.float64)) if name in floats else value for name, value in zip(names, row, strict=True)}
        for row in first
    )
