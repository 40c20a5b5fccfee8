"""Streams: the kinds of records that a source can read, related kinds in one file. `engine.workloads.streams` generates them.

A kind of another package derives from `Stream` and has a class attribute `block`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .advertising import AdClick, AdImpression
from .base import DatasetInfo, Stream, unknown_dataset
from .graph import GraphDeletion, GraphLink, GraphSource
from .linear_road import LinearRoadReport
from .nexmark import NexmarkAuction, NexmarkBid, NexmarkPerson
from .sensors import SensorReading
from .shop import AdShown, Purchase
from .smart_grid import SmartPlugReading
from .switched import SwitchedStream
from .synthetic import Synthetic, Vectors
from .taxi import TaxiTrip
from .uploaded import FileStream
from .yahoo import YahooEvent

__all__ = [
    "STREAMS",
    "AdClick",
    "AdImpression",
    "AdShown",
    "AnyStream",
    "DatasetInfo",
    "FileStream",
    "GraphDeletion",
    "GraphLink",
    "GraphSource",
    "LinearRoadReport",
    "NexmarkAuction",
    "NexmarkBid",
    "NexmarkPerson",
    "Purchase",
    "SensorReading",
    "SmartPlugReading",
    "Stream",
    "SwitchedStream",
    "Synthetic",
    "TaxiTrip",
    "Vectors",
    "YahooEvent",
    "unknown_dataset",
]

STREAMS = Family("streams", __name__, Stream, {"block": "it is the class that generates the records (`engine.workloads.generated.Block`)"})

if TYPE_CHECKING:
    AnyStream = Stream
else:
    AnyStream = STREAMS.union

SwitchedStream.model_rebuild(_types_namespace={"AnyStream": AnyStream})  # recursive: it contains streams
