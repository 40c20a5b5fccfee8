"""The input of a run: streams of records, rates, uploaded files. `build_feed` combines them for one source operator."""

from .dataseterror import DatasetError
from .datasets import Conversion, DatasetInfo, inspect, lookup, to_parquet
from .due import preview
from .feed import Feed, LogChunk, build_feed
from .strings import Strings

__all__ = [
    "Conversion",
    "DatasetError",
    "DatasetInfo",
    "Feed",
    "LogChunk",
    "Strings",
    "build_feed",
    "inspect",
    "lookup",
    "preview",
    "to_parquet",
]
