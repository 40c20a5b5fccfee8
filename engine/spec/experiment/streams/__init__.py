"""What the records of a source can be: one file for each family of streams."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .advertising import AdClick, AdImpression
from .base import DatasetInfo, Stream, unknown_dataset
from .graph import GraphDeletion, GraphLink, GraphSource
from .linear_road import LinearRoadReport
from .nexmark import NexmarkAuction, NexmarkBid, NexmarkPerson
from .sensors import SensorReading
from .shop import AdShown, Purchase
from .smart_grid import SmartPlugReading
from .synthetic import Synthetic, Vectors
from .taxi import TaxiTrip
from .uploaded import FileStream
from .yahoo import YahooEvent

__all__ = [
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
    "Synthetic",
    "TaxiTrip",
    "Vectors",
    "YahooEvent",
    "unknown_dataset",
]

AnyStream = Annotated[
    NexmarkPerson
    | NexmarkAuction
    | NexmarkBid
    | YahooEvent
    | AdImpression
    | AdClick
    | Purchase
    | AdShown
    | LinearRoadReport
    | TaxiTrip
    | SmartPlugReading
    | SensorReading
    | GraphLink
    | GraphSource
    | GraphDeletion
    | Synthetic
    | Vectors
    | FileStream,
    Field(discriminator="kind"),
]
