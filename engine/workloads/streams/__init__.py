"""Makers of the document's synthetic streams: one file for each family."""

from __future__ import annotations

from typing import Any

from engine.spec.experiment import streams as spec

from ..generated import Block
from .advertising import AdClicks, AdImpressions
from .graph import GraphDeletions, GraphLinks, GraphSources
from .linear_road import LinearRoadReports
from .nexmark import Auctions, Bids, Persons
from .sensors import SensorReadings
from .shop import AdsShown, Purchases
from .smart_grid import SmartPlugReadings
from .synthetic import SyntheticRecords, VectorRecords
from .taxi import TaxiTrips
from .yahoo import YahooEvents

BLOCKS: dict[type[spec.Stream], type[Block[Any]]] = {
    spec.NexmarkPerson: Persons,
    spec.NexmarkAuction: Auctions,
    spec.NexmarkBid: Bids,
    spec.YahooEvent: YahooEvents,
    spec.AdImpression: AdImpressions,
    spec.AdClick: AdClicks,
    spec.Purchase: Purchases,
    spec.AdShown: AdsShown,
    spec.LinearRoadReport: LinearRoadReports,
    spec.TaxiTrip: TaxiTrips,
    spec.SmartPlugReading: SmartPlugReadings,
    spec.SensorReading: SensorReadings,
    spec.GraphLink: GraphLinks,
    spec.GraphSource: GraphSources,
    spec.GraphDeletion: GraphDeletions,
    spec.Synthetic: SyntheticRecords,
    spec.Vectors: VectorRecords,
}
