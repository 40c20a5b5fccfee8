"""Common parts of similarity joins: vectors of records, distances to stored vectors, centroids, roles of records.

The coordinates of a vector are fields of its record, or kept beside the log (`points`), and the record has its number. Parameters list
the columns of the coordinates, or -1 less the column of the number. So it is with texts, whose letters are kept in the same place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from engine.core.distances import DISTANCES, EDIT, NO_METRIC, distance, distance_up_to, text_distance
from engine.core.layout import FAR, M_PAYLOAD, VECTOR_BITS
from engine.spec.base.operator import Model
from engine.spec.base.origins import constant
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import DIMENSIONS_MAX, RecordField, RecordSchema
from engine.spec.base.units import Integer, Number

INNER, OUTER, OUTLIER = 0, 1, 2
"""Roles of a record in a workset: within half the threshold of its centroid; copied there for its neighbours; beyond, but at home there."""

READ_PS = constant(300_000, "assumed", "one distance or comparison of two vectors; Siachamis 2024 gives no costs")


def place_of(point_first: Any, word: Any, dimensions: Any) -> Any:
    """Where the coordinates of the vector with this number begin."""
    return point_first[word >> VECTOR_BITS] + (word & ((1 << VECTOR_BITS) - 1)) * dimensions


def place_in_message(msg, par, point_first, slot, columns, dimensions):
    """Where the coordinates of the message's vector begin; -1 if they are its own fields."""
    place = -1
    if par[columns] < 0:
        place = place_of(point_first, msg[slot, M_PAYLOAD - 1 - par[columns]], dimensions)
    return place


def distance_to_words(msg, msg_f, par, par_f, points, points_f, point_first, stack, code, slot, columns, dimensions, words):
    """The distance between the message's vector or text and the one in the parameters from `words` on. columns: where the parameters list
    the message's coordinates."""
    result = 0.0
    if code == EDIT:
        result = text_distance(points, point_first, msg[slot, M_PAYLOAD - 1 - par[columns]], par[words], FAR, stack)
    else:
        result = vector_distance(msg, msg_f, par, par_f, points_f, point_first, code, slot, columns, dimensions, words)
    return result


def vector_distance(msg, msg_f, par, par_f, points_f, point_first, code, slot, columns, dimensions, words):
    """`distance_to_words` of vectors."""
    kept = place_in_message(msg, par, point_first, slot, columns, dimensions)
    product = 0.0
    left = 0.0
    right = 0.0
    gap = 0.0
    for c in range(dimensions):
        a = 0.0
        if kept >= 0:
            a = points_f[kept + c]
        else:
            a = msg_f[slot, M_PAYLOAD + par[columns + c]]
        b = par_f[words + c]
        product += a * b
        left += a * a
        right += b * b
        gap += (a - b) * (a - b)
    return distance(code, product, left, right, gap)


def distance_to_row(world, code, slot, columns, dimensions, r, first, bound):
    """The distance between the message's vector or text and the one in stored row `r` from column `first` on; BEYOND if it is larger than
    what the bound stands for."""
    result = 0.0
    if code == EDIT:
        own = world.msg[slot, M_PAYLOAD - 1 - world.par[columns]]
        result = text_distance(world.points, world.point_first, own, world.row[r, first], int(bound), world.stack)
    else:
        result = vector_distance_to_row(world, code, slot, columns, dimensions, r, first, bound)
    return result


def vector_distance_to_row(world, code, slot, columns, dimensions, r, first, bound):
    """`distance_to_row` of vectors."""
    msg_f = world.msg_f
    par = world.par
    points_f = world.points_f
    row_f = world.row_f
    product = 0.0
    left = 0.0
    right = 0.0
    gap = 0.0
    kept = place_in_message(world.msg, par, world.point_first, slot, columns, dimensions)
    if kept >= 0:
        theirs = place_of(world.point_first, world.row[r, first], dimensions)
        for c in range(dimensions):
            a = points_f[kept + c]
            b = points_f[theirs + c]
            product += a * b
            left += a * a
            right += b * b
            gap += (a - b) * (a - b)
    else:
        for c in range(dimensions):
            a = msg_f[slot, M_PAYLOAD + par[columns + c]]
            b = row_f[r, first + c]
            product += a * b
            left += a * a
            right += b * b
            gap += (a - b) * (a - b)
    return distance_up_to(code, product, left, right, gap, bound)


def store_vector(world, slot, columns, dimensions, r, first):
    """Copy the message's vector, or its number, to stored row `r`, from column `first` on."""
    par = world.par
    if par[columns] < 0:
        world.row[r, first] = world.msg[slot, M_PAYLOAD - 1 - par[columns]]
    else:
        for c in range(dimensions):
            world.row[r, first + c] = world.msg[slot, M_PAYLOAD + par[columns + c]]
    return 0


def float_word(value: float) -> int:
    """The bits of a float as a word."""
    return int(np.float64(value).view(np.int64))


def centroids(count: int, dimensions: int, seed: int) -> list[list[float]]:
    """Vectors with coordinates from -1 to 1, drawn one coordinate after the other. Shape (count, dimensions).

    The generator is that of java.util.Random, so seed 42 gives the centroids of the published runs. Source: Siachamis 2024, artefact.
    """
    share = shares(seed)
    return [[2.0 * next(share) - 1.0 for _ in range(dimensions)] for _ in range(count)]


def chosen(count: int, below: int, seed: int) -> list[int]:
    """Numbers from 0 to below - 1, drawn by the same generator; each once as long as there are any left. Shape (count,)."""
    share = shares(seed)
    found: list[int] = []
    while len(found) < count:
        number = int(next(share) * below)
        if number not in found[len(found) // below * below :]:
            found.append(number)
    return found


def shares(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1, as java.util.Random.nextDouble gives them."""
    state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def bits(number: int) -> int:
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return state >> (48 - number)

    while True:
        high = bits(26)
        yield ((high << 27) + bits(27)) / float(1 << 53)


def _metric(name: Any) -> Any:
    if isinstance(name, str) and name not in DISTANCES:
        if name in NO_METRIC:
            raise Refusal(f"distance is '{name}': {NO_METRIC[name]}", code="no_metric", value=name)
        raise Refusal(f"distance '{name}' is unknown; {suggestion(name, DISTANCES)}", code="unknown_distance", value=name)
    return name


DistanceName = Annotated[
    str,
    BeforeValidator(_metric),
    Field("angular", description="metric by which vectors are compared", json_schema_extra={"enum": [*DISTANCES]}),
]


def coordinates_of(port: str, of: str = "") -> Any:
    return Field(
        min_length=1,
        max_length=DIMENSIONS_MAX,
        description=f"float fields with the coordinates of the vector{of}, in order; or the one field that is a vector, or, by edit "
        "distance, a string",
        json_schema_extra={"x-port": port, "x-field-types": ["float", "vector", "string"]},
    )


Threshold = Annotated[Number, Field(gt=0, le=1e9, description="largest distance of two records that match, included")]
Spaces = Annotated[Integer, Field(ge=1, le=1000)]


class DistanceParams(Model):
    """The distance of a similarity join, and up to where records match. All its operators need the same ones."""

    distance: DistanceName = "angular"
    threshold: Threshold


def check_threshold(params: Any) -> None:
    """Raise Refusal if every pair of records would match."""
    largest = DISTANCES[params.distance].largest
    if largest is not None and params.threshold >= largest:
        message = (
            f"threshold is {params.threshold:g}, but no two vectors are farther apart than {largest:g} by the distance {params.distance}; "
            f"use less, such as 0.01"
        )
        raise Refusal(message, at=("threshold",), code="not_below", value=params.threshold)


def check_coordinates(names: Sequence[str], schema: RecordSchema, at: str, where: str, distance: str) -> None:
    """Raise Refusal unless all names are float fields of the schema, each once, or the only one is a vector; by a distance of texts, a
    string."""
    wanted: tuple[str, ...] = ("string",)
    needs = "edit distance is between strings"
    if not DISTANCES[distance].of_texts:
        wanted, needs = ("float", "vector"), "a coordinate is a float"
    for n, name in enumerate(names):
        if name not in schema:
            message = f"{at} names '{name}', which is not a field of {where}; {suggestion(name, schema.names)}"
            raise Refusal(message, at=(at, n), code="unknown_field", value=name)
        if schema.type_of(name) not in wanted:
            message = f"{at} names '{name}', which is {schema.type_of(name)}; {needs}"
            raise Refusal(message, at=(at, n), code="type_mismatch", value=name)
        if schema.type_of(name) != "float" and len(names) > 1:
            whole = "a string" if wanted == ("string",) else "a whole vector"
            message = f"{at} names '{name}', which is {whole}, beside other fields; name it alone"
            raise Refusal(message, at=(at, n), code="type_mismatch", value=name)
        if name in names[:n]:
            raise Refusal(f"{at} names '{name}' twice; name each coordinate once", at=(at, n), code="duplicate_name", value=name)


def check_fields(expected: Mapping[str, str], schema: RecordSchema, where: str, made_by: str) -> None:
    """Raise Refusal unless the schema has the fields, by name and type, that the operator `made_by` adds."""
    for name, type in expected.items():
        if name not in schema or schema.type_of(name) != type:
            message = f"{where} has no {type} field '{name}', which {made_by} adds; put {made_by} in front of it"
            raise Refusal(message, code="unknown_field", value=name)


def with_fields(schema: RecordSchema, added: Mapping[str, Any]) -> RecordSchema:
    """The schema with further fields, by name and type. Raises Refusal for a name that it has already."""
    for name in added:
        if name in schema:
            message = f"the records already have a field '{name}', which this operator adds; rename it first"
            raise Refusal(message, code="duplicate_name", value=name)
    return RecordSchema((*schema.fields, *(RecordField(name, type) for name, type in added.items())))


def columns_of(names: Sequence[str], schema: RecordSchema) -> list[int]:
    """Columns of the coordinates; -1 less the column of a whole vector or of a string."""
    return [schema.index(name) if schema.type_of(name) == "float" else -1 - schema.index(name) for name in names]


def centroid_words(params: Any, schema: RecordSchema, lowering: Any) -> list[int]:
    """The centroids of spaces, one after the other: coordinates, or codes of texts."""
    if DISTANCES[params.distance].of_texts:
        return chosen(params.spaces, max(lowering.stream_texts, 1), params.seed)
    drawn = centroids(params.spaces, dimensions_of(params.coordinates, schema), params.seed)
    return [float_word(x) for centroid in drawn for x in centroid]


def dimensions_of(names: Sequence[str], schema: RecordSchema) -> int:
    return schema.field(names[0]).dimensions or len(names)


def output_words(wanted: RecordSchema, schema: RecordSchema, added: Collection[str]) -> list[int]:
    """Where each carried field of an output comes from: its column in the input, or -1, -2, .. for the first, second, .. of those added."""
    own = list(added)
    return [-1 - own.index(name) if name in own else schema.index(name) for name in wanted.names]


def check_same_dimensions(params: Any, left_schema: RecordSchema, right_schema: RecordSchema) -> None:
    """Raise Refusal if the vectors of left and right have different numbers of coordinates, or are kept in different ways."""
    left, right = dimensions_of(params.left_coordinates, left_schema), dimensions_of(params.right_coordinates, right_schema)
    if left != right:
        message = f"left_coordinates names {left} coordinates, right_coordinates {right}; vectors to be compared have equally many"
        raise Refusal(message, at=("right_coordinates",), code="different_dimensions", value=list(params.right_coordinates))
    ways = [left_schema.type_of(params.left_coordinates[0]), right_schema.type_of(params.right_coordinates[0])]
    if ways[0] != ways[1]:
        message = f"left_coordinates are of the type {ways[0]}, right_coordinates {ways[1]}; use vectors on both sides, or fields on both"
        raise Refusal(message, at=("right_coordinates",), code="type_mismatch", value=list(params.right_coordinates))
