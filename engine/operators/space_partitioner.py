"""Sends each record to the space of its nearest centroid, and copies of it to the spaces where it may have matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from pydantic import Field

from engine.core.distances import DISTANCES
from engine.core.kernels.messages import new_output
from engine.core.layout import BOX_READ, G_FREE, G_NEED, I_ERRORS, M_PAYLOAD, NEED_MESSAGES
from engine.operators.similarity import (
    READ_PS,
    DistanceParams,
    Spaces,
    centroid_words,
    check_coordinates,
    check_threshold,
    columns_of,
    coordinates_of,
    dimensions_of,
    distance_to_words,
    float_word,
    output_words,
    with_fields,
)
from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema
from engine.spec.base.units import Integer

# parameters, in order; `_KEYS` and `_WORKERS` are 0 but for a cluster join
(
    SPACE_DISTANCE,
    SPACE_DIMENSIONS,
    SPACE_SPACES,
    SPACE_THRESHOLD,
    SPACE_LISTENED,
    SPACE_OUTPUTS,
    SPACE_TABLE,
    SPACE_COLUMNS,
    SPACE_CENTROIDS,
    SPACE_KEYS,
    SPACE_WORKERS,
) = range(11)
SPACE_OWN = 11


def meets_here(i, j):
    """Whether pairs of records at home in spaces i and j are found in j, so that records of i are copied there. For two spaces this holds
    in exactly one order. Source: Siachamis 2024, 2.4 (artefact)."""
    return (i < j) != ((i + j) % 2 == 1)


def key_of_space(par, at, j):
    """The key that space j shares with others (ClusterJoin)."""
    return (j * par[at + SPACE_KEYS] + par[at + SPACE_SPACES] - 1) // par[at + SPACE_SPACES]


def worker_of_key(par, at, key):
    return min(key * par[at + SPACE_WORKERS] // par[at + SPACE_KEYS], par[at + SPACE_WORKERS] - 1)


def distance_to_centroid(msg, msg_f, par, par_f, points, points_f, point_first, stack, at, slot, j):
    """The distance between the message's vector or text and the centroid of space j."""
    code = par[at + SPACE_DISTANCE]
    dimensions = par[at + SPACE_DIMENSIONS]
    columns = par[at + SPACE_COLUMNS]
    words = par[at + SPACE_CENTROIDS] + j * dimensions
    return distance_to_words(msg, msg_f, par, par_f, points, points_f, point_first, stack, code, slot, columns, dimensions, words)


def space_on_record(slot, msg, msg_f, par, par_f, points, points_f, point_first, stack, at, inst, i, g, free, box, stamps):
    """Emit the record for the space of its nearest centroid, then a copy for each space near its border that is to find its pairs."""
    spaces = par[at + SPACE_SPACES]
    if g[G_FREE] < spaces:
        g[G_NEED] = spaces
        return -NEED_MESSAGES
    home = -1
    nearest = 0.0
    for j in range(spaces):
        far = distance_to_centroid(msg, msg_f, par, par_f, points, points_f, point_first, stack, at, slot, j)
        if far == far and (home < 0 or far < nearest):
            home = j
            nearest = far
    box[BOX_READ] = spaces
    if home < 0:
        inst[i, I_ERRORS] += 1
        return 0
    if par[at + SPACE_LISTENED] == 0:
        return 0
    reach = nearest + 2.0 * par_f[at + SPACE_THRESHOLD]
    outputs = 0
    for turn in range(spaces + 1):
        j = home if turn == 0 else turn - 1
        goes = turn == 0
        if turn > 0 and j != home and meets_here(home, j):
            far = distance_to_centroid(msg, msg_f, par, par_f, points, points_f, point_first, stack, at, slot, j)
            goes = far <= reach
        if goes:
            made = new_output(msg, free, g, box, slot, stamps)
            for c in range(par[at + SPACE_OUTPUTS]):
                of = par[par[at + SPACE_TABLE] + c]
                if of >= 0:
                    msg[made, M_PAYLOAD + c] = msg[slot, M_PAYLOAD + of]
                elif of == -1:
                    msg[made, M_PAYLOAD + c] = j
                elif of == -2:
                    msg[made, M_PAYLOAD + c] = 1 if turn == 0 else 0
                elif of == -3:
                    msg[made, M_PAYLOAD + c] = key_of_space(par, at, j)
                else:
                    msg[made, M_PAYLOAD + c] = worker_of_key(par, at, key_of_space(par, at, j))
            outputs += 1
    return outputs


class SpacePartitioner(Operator):
    """Sends each record to the space whose centroid is nearest to it (`inner` is true), and a copy to the other spaces where a record
    within the threshold may be at home (`inner` is false). Of two spaces, one finds all pairs between them, so no pair is found twice.

    Adds the fields `space` and `inner`. A record whose vector has no distance to the centroids, such as a zero vector by angle, counts as
    an error and is dropped. Stateless.
    Cost: record_ps per record, read_ps per distance to a centroid, output_ps per record and copy.
    Source: Siachamis 2024, 2.3 and 2.4 (S3J, space partitioning).
    """

    kind, title, group, icon = "space_partitioner", "Space partitioner", "Similarity", "fork"
    position = 20
    source = "Siachamis 2024, 2.4"
    priced_as = "map"
    read_ps = READ_PS
    writes_only_wanted = True
    on_record = staticmethod(space_on_record)
    added: ClassVar[dict[str, str]] = {"space": "int", "inner": "bool"}

    class Params(DistanceParams):
        coordinates: tuple[str, ...] = coordinates_of("in")
        spaces: Spaces = Field(description="number of spaces; S3J has one for each worker")
        seed: Integer = Field(42, ge=0, le=2**48 - 1, description="draws the centroids, from -1 to 1 (42: those of the source)")

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        check_threshold(params)
        check_coordinates(params.coordinates, inputs["in"], "coordinates", "the input", params.distance)
        return {"out": with_fields(inputs["in"], cls.added)}

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return field

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        return {"in": {*params.coordinates, *(name for name in wanted["out"] if name not in cls.added)}}

    @classmethod
    def keys_and_workers(cls, params: Any) -> tuple[int, int]:
        """Number of keys that spaces share, and number of workers among which keys are divided."""
        return 0, 0

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        outputs = output_words(lowering.outputs["out"], inputs["in"], cls.added)
        columns = columns_of(params.coordinates, inputs["in"])
        dimensions = dimensions_of(params.coordinates, inputs["in"])
        table = lowering.params_at + SPACE_OWN
        return [
            DISTANCES[params.distance].code,
            dimensions,
            params.spaces,
            float_word(params.threshold),
            int("out" in lowering.connected),
            len(outputs),
            table,
            table + len(outputs),
            table + len(outputs) + len(columns),
            *cls.keys_and_workers(params),
            *outputs,
            *columns,
            *centroid_words(params, inputs["in"], lowering),
        ]
