"""Every function and operator gives what Spark SQL gives, bit for bit, on edge values of all types.

`SAME` has for each expression the SQL that gives the same on all rows. `DIFFERENT` has what one would write in SQL where that is something
else: on which rows the two part, and what Spark has there. docs/experiment-document.md says why.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.export.sql import sql as sql_of
from engine.spec import RecordSchema
from engine.spec.expressions.functions import FUNCTIONS
from engine.spec.expressions.parser import parse
from tests.oracle.expressions import Expression, float_word
from tests.support.expressions import TEXTS, run, word

pytestmark = [pytest.mark.spark, pytest.mark.slow]

INTS = [0, *(sign * n for n in (1, 2, 3, 7, 10, 1000, 2**31, 2**53 + 1, 2**62, 2**63 - 1) for sign in (1, -1)), -(2**63)]
FLOATS = [
    *(sign * x for x in (0.0, 0.5, 1.0, 1.5, 2.5, 1 / 3, 0.49999999999999994, 5e-324, 1e-300, 7.25, 1e9) for sign in (1.0, -1.0)),
    *(sign * x for x in (2.0**51 + 0.5, 2.0**53, 2.0**63, 9.3e18, 1e300, math.inf) for sign in (1.0, -1.0)),
    math.nan,
]
DAY_NS = 86_400 * 10**9
TIMES = [
    *(
        n * DAY_NS + part
        for n in (0, 59, 60, 365, 11_016, 19_782, 19_783, 47_541, 106_750)
        for part in (0, 1, 12_345_678_901_234, DAY_NS - 1)
    ),
    *(-n * DAY_NS + part for n in (1, 25_567, 106_000) for part in (0, DAY_NS - 1)),
]
MORE_TEXTS = ["orange", "O", "%", "a", "ab", "İstanbul", "ǆ", "aB" * 20]

SCHEMAS = {
    "ints": RecordSchema.of(a="int", b="int"),
    "floats": RecordSchema.of(x="float", y="float"),
    "mixed": RecordSchema.of(a="int", x="float"),
    "bools": RecordSchema.of(p="bool", q="bool"),
    "texts": RecordSchema.of(s="string", t="string"),
    "times": RecordSchema.of(u="timestamp", v="timestamp", a="int"),
    "quoted": RecordSchema.of(**{"class": "int", "Price (EUR)": "float", "größe 🚕": "int"}),
}
TEXT_VALUES = [*TEXTS, *MORE_TEXTS]
ROWS = {
    "ints": list(itertools.product(INTS, INTS)),
    "floats": list(itertools.product(FLOATS, FLOATS)),
    "mixed": list(itertools.product(INTS, FLOATS)),
    "bools": list(itertools.product([False, True], repeat=2)),
    "texts": list(itertools.product(TEXT_VALUES, TEXT_VALUES)),
    "quoted": [(a, x, a) for a, x in itertools.product(INTS[:7], FLOATS[:7])],
    "times": [(u, TIMES[n * 7 % len(TIMES)], INTS[n % len(INTS)]) for n, u in enumerate(TIMES)],
}

NUMBERS = "NOT isnan(x) AND NOT isnan(y)"
OTHER_SIGNS = "(a < 0) <> (b < 0)"
UTC = "timestamp_micros(u div 1000 - IF(u % 1000 < 0, 1, 0))"

SAME = {
    "quoted": {
        'record["class"] + record["größe 🚕"]': "`class` + `größe 🚕`",
        'record["Price (EUR)"] if record["class"] > 1 else 0.5': "CASE WHEN `class` > 1 THEN `Price (EUR)` ELSE 0.5D END",
    },
    "ints": {
        "a + b": "a + b",
        "a - b": "a - b",
        "a * b": "a * b",
        "a / b": "CASE WHEN b <> 0 THEN a / b WHEN a = 0 THEN DOUBLE('NaN') WHEN a > 0 THEN DOUBLE('inf') ELSE DOUBLE('-inf') END",
        "a // b": f"CASE WHEN b = 0 THEN 0L ELSE a div b - IF(a % b <> 0 AND {OTHER_SIGNS}, 1, 0) END",
        "a % b": f"CASE WHEN b = 0 THEN 0L WHEN a % b <> 0 AND {OTHER_SIGNS} THEN a % b + b ELSE a % b END",
        "a % 7": "pmod(a, 7L)",
        "-a": "-a",
        "abs(a)": "abs(a)",
        "min(a, b, 2)": "least(a, b, 2)",
        "max(a, b, 2)": "greatest(a, b, 2)",
        "a < b": "a < b",
        "a <= b": "a <= b",
        "a > b": "a > b",
        "a >= b": "a >= b",
        "a == b": "a = b",
        "a != b": "a <> b",
        "-7 <= a < b": "-7 <= a AND a < b",
        "a in (1, -7, 9223372036854775807)": "a IN (1, -7, 9223372036854775807)",
        "a not in (1, -7)": "a NOT IN (1, -7)",
        "a if a > b else b - 1": "CASE WHEN a > b THEN a ELSE b - 1 END",
        "a if a > b else 0.5": "CASE WHEN a > b THEN a ELSE 0.5D END",
        "floor(a)": "floor(a)",
        "ceil(a)": "ceil(a)",
        "round(a)": "round(a)",
        "int(a)": "CAST(a AS BIGINT)",
        "float(a)": "CAST(a AS DOUBLE)",
        "timestamp(a)": "a",
        "sqrt(a)": "sqrt(a)",
        "hash(a)": "xxhash64(a)",
        "hash(a, b)": "xxhash64(a, b)",
        "bucket(a, 10)": "pmod(xxhash64(a), 10L)",
        "milliseconds(a)": "a * 1000000",
        "seconds(a)": "a * 1000000000",
        "minutes(a)": "a * 60000000000",
        "hours(a)": "a * 3600000000000",
        "days(a)": "a * 86400000000000",
    },
    "floats": {
        "x + y": "x + y",
        "x - y": "x - y",
        "x * y": "x * y",
        "x / y": """CASE WHEN y <> 0 THEN x / y WHEN x = 0 OR isnan(x) THEN DOUBLE('NaN')
                         WHEN (STRING(x) LIKE '-%') = (STRING(y) LIKE '-%') THEN DOUBLE('inf') ELSE DOUBLE('-inf') END""",
        "-x": "-x",
        "abs(x)": "abs(x)",
        "min(x, y)": f"CASE WHEN y < x AND {NUMBERS} THEN y ELSE x END",
        "max(x, y)": f"CASE WHEN y > x AND {NUMBERS} THEN y ELSE x END",
        "x < y": f"x < y AND {NUMBERS}",
        "x <= y": f"x <= y AND {NUMBERS}",
        "x > y": f"x > y AND {NUMBERS}",
        "x >= y": f"x >= y AND {NUMBERS}",
        "x == y": f"x = y AND {NUMBERS}",
        "x != y": f"NOT (x = y AND {NUMBERS})",
        "x in (1.5, 0.0)": "x IN (1.5D, 0D)",
        "x if x > 0 else y": "CASE WHEN x > 0 AND NOT isnan(x) THEN x ELSE y END",
        "floor(x)": "CAST(floor(x) AS BIGINT)",
        "ceil(x)": "CAST(ceil(x) AS BIGINT)",
        "round(x)": "CAST(round(x) AS BIGINT)",
        "int(x)": "CAST(x AS BIGINT)",
        "float(x)": "x",
        "sqrt(x)": "sqrt(x)",
        "round(x * 100) / 100": "CAST(round(x * 100) AS BIGINT) / 100",
        "hash(x)": "xxhash64(x)",
        "hash(x, y)": "xxhash64(x, y)",
        "seconds(x)": "CAST(round(x * 1e9D) AS BIGINT)",
        "days(x)": "CAST(round(x * 86400e9D) AS BIGINT)",
    },
    "mixed": {
        "a + x": "a + x",
        "a * x": "a * x",
        "x - a": "x - a",
        "a < x": "a < x AND NOT isnan(x)",
        "a == x": "a = x AND NOT isnan(x)",
        "max(a, x)": "CASE WHEN x > a AND NOT isnan(x) THEN x ELSE CAST(a AS DOUBLE) END",
        "a in (1, 0.5, -7)": "CAST(a AS DOUBLE) IN (1D, 0.5D, -7D)",
        "hash(a, x, a)": "xxhash64(a, x, a)",
    },
    "bools": {
        "p and q": "p AND q",
        "p or q": "p OR q",
        "not p": "NOT p",
        "p == q": "p = q",
        "p != q": "p <> q",
        "int(p)": "CAST(p AS BIGINT)",
        "hash(p, q)": "xxhash64(CAST(p AS BIGINT), CAST(q AS BIGINT))",
        "p if q else True": "IF(q, p, TRUE)",
    },
    "texts": {
        "s == t": "s = t",
        "s != t": "s <> t",
        "s < t": "s < t",
        "s <= t": "s <= t",
        "s > t": "s > t",
        "'OR' >= s": "'OR' >= s",
        "s in ('OR', 'or', '')": "s IN ('OR', 'or', '')",
        "s if s < t else t": "least(s, t)",
        "startswith(s, 'O')": "startswith(s, 'O')",
        "endswith(s, 'ß')": "endswith(s, 'ß')",
        "endswith(s, '')": "endswith(s, '')",
        "contains(s, 'r')": "contains(s, 'r')",
        "like(s, 'O%')": "s LIKE 'O%'",
        "like(s, '%a_%')": "s LIKE '%a_%'",
        "like(s, '_')": "s LIKE '_'",
        "like(s, '%\\\\%')": r"s LIKE '%\\%'",
        "length(s)": "CAST(length(s) AS BIGINT)",
        "lower(s)": "lower(s)",
        "upper(s)": "upper(s)",
        "lower(s) == lower(t)": "lower(s) = lower(t)",
        "hash(s)": "xxhash64(s)",
        "hash(s, t)": "xxhash64(s, xxhash64(t))",
        "bucket(s, 7)": "pmod(xxhash64(s), 7L)",
    },
    "times": {
        "u + seconds(5)": "u + 5000000000",
        "u - a": "u - a",
        "u - v": "u - v",
        "(u - v) / minutes(1)": "(u - v) / 60000000000",
        "u < v": "u < v",
        "min(u, v)": "least(u, v)",
        "max(u, v)": "greatest(u, v)",
        "int(u)": "u",
        "hash(u)": "xxhash64(u)",
        "hour(u)": f"CAST(hour({UTC}) AS BIGINT)",
        "minute(u)": f"CAST(minute({UTC}) AS BIGINT)",
        "second(u)": f"CAST(second({UTC}) AS BIGINT)",
        "weekday(u)": f"CAST(weekday({UTC}) AS BIGINT) + 1",
        "day(u)": f"CAST(day({UTC}) AS BIGINT)",
        "month(u)": f"CAST(month({UTC}) AS BIGINT)",
        "year(u)": f"CAST(year({UTC}) AS BIGINT)",
    },
}

DIFFERENT: dict[str, dict[str, tuple[str, dict[str, Callable[..., Any]]]]] = {
    # expression: plain SQL, and the rows where it is something else, with what Spark has there: of our value and the row's two
    "ints": {
        "a / b": ("a / b", {"b = 0": lambda ours, a, b: None}),
        "a // b": ("a div b", {"b = 0": lambda ours, a, b: None, f"a % b <> 0 AND {OTHER_SIGNS}": lambda ours, a, b: ours + 1}),
        "a % b": ("a % b", {"b = 0": lambda ours, a, b: None, f"a % b <> 0 AND {OTHER_SIGNS}": lambda ours, a, b: ours - b}),
    },
    "floats": {
        "x / y": ("x / y", {"y = 0": lambda ours, x, y: None}),
        "x == y": ("x = y", {"isnan(x) AND isnan(y)": lambda ours, x, y: True}),
        "x < y": ("x < y", {"isnan(y) AND NOT isnan(x)": lambda ours, x, y: True}),
        "x >= y": ("x >= y", {"isnan(x)": lambda ours, x, y: True}),
        "min(x, y)": ("least(x, y)", {"isnan(x) AND NOT isnan(y)": lambda ours, x, y: y}),
        "max(x, y)": ("greatest(x, y)", {"isnan(y) AND NOT isnan(x)": lambda ours, x, y: y}),
    },
}


@pytest.fixture(scope="module")
def sql(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Values of many SQL expressions on all rows of a family, as {expression: values}; overflow and division by zero are no errors."""
    directory = tmp_path_factory.mktemp("expressions")
    types = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "string": pa.string(), "timestamp": pa.int64()}
    for family, schema in SCHEMAS.items():
        columns = {
            field.name: pa.array(column, types[field.type])
            for field, column in zip(schema.fields, zip(*ROWS[family], strict=True), strict=True)
        }
        path = str(directory / f"{family}.parquet")
        parquet.write_table(pa.table({"n": pa.array(range(len(ROWS[family]))), **columns}), path)
        spark.read.parquet(path).createOrReplaceTempView(family)

    def select(family: str, expressions: Sequence[str]) -> dict[str, list[Any]]:
        named = ", ".join(f"{expression} AS e{n}" for n, expression in enumerate(expressions))
        path = str(directory / "result")
        spark.sql(f"SELECT n, {named} FROM {family}").write.mode("overwrite").parquet(path)
        table = parquet.read_table(path).sort_by("n")
        return {expression: table[f"e{n}"].to_pylist() for n, expression in enumerate(expressions)}

    ansi = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield select
    spark.conf.set("spark.sql.ansi.enabled", ansi)


def evaluated(text: str, family: str) -> list[Any]:
    """What the compiled machine gives for all rows of the family, floats by their bits; the oracle gives the same."""
    schema = SCHEMAS[family]
    rows = [dict(zip(schema.names, row, strict=True)) for row in ROWS[family]]
    times = {field.name: field.zero_ns for field in schema.fields if field.type == "timestamp"}
    oracle = Expression(text, times)
    words = []
    for row, (found, errors, strings) in zip(rows, run(text, schema, rows, "compiled"), strict=True):
        outcome = oracle.outcome(row)
        assert (found, errors) == (word(outcome.value, strings), outcome.errors), (text, row)
        words.append(strings.text(found) if isinstance(outcome.value, str) else found)
    return words


def bits(value: Any) -> Any:
    return float_word(value) if isinstance(value, float) else value


@pytest.mark.parametrize("family", SAME)
def test_spark_gives_the_same(sql: Any, family: str) -> None:
    found = sql(family, list(SAME[family].values()))
    for text, expression in SAME[family].items():
        for row, ours, theirs in zip(ROWS[family], evaluated(text, family), found[expression], strict=True):
            assert ours == bits(theirs), f"{text} of {row}: Spark has {theirs}"


@pytest.mark.parametrize("family", SAME)
def test_what_an_export_writes_gives_the_same(sql: Any, family: str) -> None:
    written = {text: sql_of(parse(text, SCHEMAS[family]).tree) for text in SAME[family]}
    found = sql(family, list(written.values()))
    for text, expression in written.items():
        for row, ours, theirs in zip(ROWS[family], evaluated(text, family), found[expression], strict=True):
            assert ours == bits(theirs), f"{text} of {row}: Spark has {theirs} for {expression}"


@pytest.mark.parametrize("family", DIFFERENT)
def test_where_plain_sql_is_something_else(sql: Any, family: str) -> None:
    """It is so on the rows named, and nowhere else."""
    for text, (expression, parts) in DIFFERENT[family].items():
        found = sql(family, [expression, *parts])
        for n, (row, ours) in enumerate(zip(ROWS[family], evaluated(text, family), strict=True)):
            expected = ours
            for where, value in parts.items():
                if found[where][n]:
                    expected = bits(value(ours, *row))
                    assert expected != ours
            assert bits(found[expression][n]) == expected, f"{text} of {row}: Spark has {found[expression][n]}"


def test_every_function_is_compared() -> None:
    texts = " ".join(text for family in SAME.values() for text in family)
    assert [name for name in FUNCTIONS if f"{name}(" not in texts] == []
