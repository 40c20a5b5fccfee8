"""Parameters of the state `changelog`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.operator import Model
from ...base.origins import ASSUMED
from ...base.units import Integer, Number, quantity
from .base import DISK_BYTES, Changelog


class Tree(Model):
    """The log-structured merge tree: buffers in memory, and sorted runs on the disk of the worker. There is no write-ahead log."""

    buffer_mb: Number = quantity(32.0, unit="MB", gt=0, le=1e6, title="Buffer", description="Of each store. A full one is flushed.")
    buffers: Integer = quantity(3, ge=2, le=1000, title="Buffers", description="Of each store. If all are full, writes wait for a flush.")
    absorbs: bool = Field(
        default=True,
        strict=True,
        title="Absorbs",
        description="Whether buffers collect changes, so that only the newest version of a key is written. Without it, each is written.",
        json_schema_extra={"x-advanced": True},
    )
    compaction: Literal["universal", "leveled"] = Field(
        default="universal",
        title="Merges",
        description="universal: all runs, when there are enough; leveled: into levels, each ten times as large as the one above.",
    )
    runs_max: Integer = quantity(4, ge=2, le=1000, title="Runs", description="Runs at which a merge begins.")
    flush_kb: Number = quantity(
        100.0, unit="kB", ge=0, le=1e6, title="Per flush", description="Files and metadata of a flush.", advanced=True, charge=DISK_BYTES
    )
    put_share: Number = quantity(
        0.35,
        unit="share",
        gt=0,
        le=10,
        title="Compression",
        description="What coding and compression leave of an entry.",
        advanced=True,
        charge=DISK_BYTES,
    )
    tombstone_bytes: Number = quantity(
        7.5, unit="bytes", ge=0, le=1e6, title="Tombstone", description="Of one on disk.", advanced=True, charge=DISK_BYTES
    )
    disk_mb_per_s: Number = quantity(
        500.0, unit="MB/s", gt=0, le=1e6, title="Disk", description="Throughput of the worker's disk.", advanced=True, charge=ASSUMED
    )


class LocalStore(Changelog):
    """Operators keep their state in a local store: a cache above a log-structured merge tree on the disk of the worker. Each change that
    leaves the cache also goes to a changelog at a broker, which compacts it, as in Apache Samza over Apache Kafka."""

    title: ClassVar[str] = "Local store, with a changelog"
    source: ClassVar[str] = "Chronarakis 2019, 2.2"
    position: ClassVar[int] = 1
    kind: Literal["changelog"] = "changelog"
    tree: Tree = Field(default=Tree(), title="Store", description="The store on the disk of the worker.")
