"""Synthetic records with configurable numbers of keys and fields."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.records import DIMENSIONS_MAX, VECTOR_DIMENSIONS_MAX, RecordField, RecordSchema
from ...base.units import Integer, Number, quantity
from ..skew import AnySkew, UniformSkew
from .base import DatasetInfo, Stream, count, ratio

CLUSTERS, SPREAD = 20, 0.1


class Synthetic(Stream):
    """A key, the record's number, and configurable numbers of uniform integers, fractions (two decimals) and strings (one hex digit).

    With keys in turn, record n has key n mod keys; otherwise keys are drawn. The fields are key, number, i1, i2, .., f1, .., s1, .., time.
    """

    title: ClassVar[str] = "Synthetic records"
    group: ClassVar[str] = "Synthetic"
    icon: ClassVar[str] = "table"
    source: ClassVar[str] = "Karimov 2020, 4.4 and 5.4; Heinrich et al. 2024, V; Siachamis 2024, 3.6 (consistency checks)"
    position: ClassVar[int] = 15
    kind: Literal["synthetic"] = "synthetic"

    keys: Integer = count(1000, title="Keys", description="Number of keys, numbered from 0.")
    in_turn: bool = Field(
        default=True, strict=True, title="In turn", description="Cycle through the keys. If off, draw keys by their skew."
    )
    skew: AnySkew = Field(default=UniformSkew(), title="Skew of keys", description="Key distribution if keys are not in turn.")
    integers: Integer = Field(default=5, ge=0, le=20, title="Integers", description="Number of integer fields.")
    integer_min: Integer = Field(
        default=0, ge=-(10**15), le=10**15, title="Smallest integer", description="Lower bound of integer fields, included."
    )
    integer_max: Integer = Field(
        default=99, ge=-(10**15), le=10**15, title="Largest integer", description="Upper bound of integer fields, included."
    )
    floats: Integer = Field(default=0, ge=0, le=20, title="Fractions", description="Number of float fields.")
    float_size: Number = Field(default=0.05, ge=0, le=1e9, title="Size of fractions", description="Fractions lie between -size and size.")
    strings: Integer = Field(default=0, ge=0, le=20, title="Strings", description="Number of string fields.")

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.integer_max < self.integer_min:
            message = f"integer_max is {self.integer_max}, below integer_min ({self.integer_min}); it must be at least integer_min"
            raise Refusal(message, at=("integer_max",), code="not_ascending", value=self.integer_max)
        return self

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        fields = [RecordField("key", "int"), RecordField("number", "int")]
        fields += [RecordField(f"i{n}", "int") for n in range(1, self.integers + 1)]
        fields += [RecordField(f"f{n}", "float") for n in range(1, self.floats + 1)]
        fields += [RecordField(f"s{n}", "string") for n in range(1, self.strings + 1)]
        return RecordSchema((*fields, RecordField("time", "timestamp", 0)))


class Band(Model):
    """A share of the vectors whose directions lie within a narrow band."""

    turn: Number = quantity(0.25, unit="half turns", ge=-1, le=1, title="Direction", description="The middle of the band.")
    width: Number = quantity(0.01, unit="half turns", gt=0, le=1, title="Width", description="Directions are uniform in it.")
    share: float = ratio(0.1, title="Share", description="Share of the vectors that lie in it.")


class Vectors(Stream):
    """Points for similarity joins: with a field for each coordinate (x1, x2, ..), or one field v for the whole vector.

    Independent coordinates: uniform, from -1 to 1. gaussian: normal with mean -1 and standard deviation 2. pareto: at least 1, with shape
    10. skewed: logistic-normal between -1 and 1, with skew 10 and bias 5, so all vectors lie close to one.

    clustered: unit vectors around drawn centres, as embeddings lie. bands: shares of the vectors have directions in narrow bands; the rest
    is uniform.
    """

    title: ClassVar[str] = "Vectors"
    group: ClassVar[str] = "Synthetic"
    icon: ClassVar[str] = "table"
    source: ClassVar[str] = "Siachamis 2024, 2.5"
    position: ClassVar[int] = 16
    kind: Literal["vectors"] = "vectors"

    dimensions: Integer = Field(
        default=2, ge=1, le=VECTOR_DIMENSIONS_MAX, title="Dimensions", description="Number of coordinates of a point."
    )
    fields: Literal["coordinates", "vector"] = Field(
        default="coordinates",
        title="Fields",
        description=f"coordinates: a field for each, at most {DIMENSIONS_MAX}, which expressions can use; vector: one field, of which "
        "records carry a number, while its coordinates are kept once. Both have the same size on links.",
        exclude_if=lambda fields: fields == "coordinates",
    )
    law: Literal["uniform", "gaussian", "pareto", "skewed", "clustered", "bands"] = Field(
        default="uniform", title="Distribution", description="Distribution of each coordinate, or of whole vectors: clustered and bands."
    )
    clusters: Integer = Field(
        default=CLUSTERS,
        ge=1,
        le=10_000,
        title="Clusters",
        description="Of clustered: number of centres.",
        exclude_if=lambda clusters: clusters == CLUSTERS,
    )
    spread: Number = Field(
        default=SPREAD,
        gt=0,
        le=100,
        title="Spread",
        description="Of clustered: standard deviation of each coordinate around a centre, whose length is 1.",
        exclude_if=lambda spread: spread == SPREAD,
    )
    centres: Literal["own", "common"] = Field(
        default="own",
        title="Centres",
        description="Of clustered. own: of this source alone; common: of all sources with common centres, so their vectors match.",
        exclude_if=lambda centres: centres == "own",
    )
    bands: tuple[Band, ...] = Field(
        default=(), max_length=100, title="Bands", description="Of bands: the bands.", exclude_if=lambda bands: not bands
    )
    first: Integer = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="First",
        description="Of bands: so many vectors at the start lie in the bands, in turn.",
        exclude_if=lambda first: first == 0,
    )

    @model_validator(mode="after")
    def _coordinates_are_few(self) -> Self:
        if self.fields == "coordinates" and self.dimensions > DIMENSIONS_MAX:
            message = (
                f"dimensions is {self.dimensions}, but fields is 'coordinates', of which records have at most {DIMENSIONS_MAX}; "
                "choose fewer, or 'vector' as fields"
            )
            raise Refusal(message, at=("dimensions",), code="out_of_range", value=self.dimensions)
        return self

    @model_validator(mode="after")
    def _bands_are_of_the_plane(self) -> Self:
        if self.law == "bands":
            if self.dimensions != 2:
                message = f"dimensions is {self.dimensions}, but bands are of directions in the plane; use 2, or another law"
                raise Refusal(message, at=("dimensions",), code="not_the_plane", value=self.dimensions)
            if not self.bands:
                raise Refusal("law is 'bands', but bands is empty; name at least one band", at=("bands",), code="missing", value=[])
            share = sum(band.share for band in self.bands)
            if share > 1 + 1e-9:
                message = f"the shares of the bands add up to {share:g}; they may add up to 1"
                raise Refusal(message, at=("bands",), code="too_large", value=share)
        return self

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        coordinates = [RecordField(f"x{n}", "float") for n in range(1, self.dimensions + 1)]
        if self.fields == "vector":
            coordinates = [RecordField("v", "vector", dimensions=self.dimensions)]
        return RecordSchema((RecordField("id", "int"), *coordinates, RecordField("time", "timestamp", 0)))
