"""The zero of event time, shared by all data sets of a document, so that records of different files are aligned in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from ..base.problems import Refusal
from ..experiment.streams import DatasetInfo, FileStream
from ..experiment.workload import SourceWorkload

SECOND_NS = 1_000_000_000
SPAN_MAX_NS = 1 << 61
"""Longest time between the first records of two data sets, about 73 years. Event times stay far below the limit of 2^62 ns."""


def event_zero_ns(sources: Mapping[str, SourceWorkload], datasets: Callable[[str], DatasetInfo | None]) -> int | None:
    """Return the calendar time of event time 0, in ns since 1970 (UTC): the earliest first record of all data sets that the sources read.
    None if no source reads a known data set.

    Generated streams count from the start of the run and do not affect the zero. Data sets of rates and delays have no event time.
    """
    firsts = []
    for source in sources.values():
        if isinstance(source.stream, FileStream):
            with suppress(Refusal):  # reported when the stream's fields are checked
                dataset = datasets(source.stream.dataset)
                if dataset is not None and source.stream.timestamp in dataset.firsts_ns:
                    firsts.append(dataset.firsts_ns[source.stream.timestamp])
    return min(firsts, default=None)


def calendar_text(time_ns: int) -> str:
    """Return a time in ns since 1970 as an ISO text, such as 2013-01-01T00:00:00Z, with as many decimals as it needs."""
    seconds, rest_ns = divmod(time_ns, SECOND_NS)
    decimals = f".{rest_ns:09}".rstrip("0") if rest_ns else ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{decimals}Z"
