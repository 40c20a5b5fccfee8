"""The tables of the loop: the engine's whole state as one set of flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L

Words = NDArray[np.int64]


class Tables(NamedTuple):
    """The loop's tables. They are (rows, columns) of `engine.core.layout`; `*_f` are float64 views of the same memory."""

    msg: Words
    msg_f: NDArray[np.float64]
    free: Words  # stack of free messages
    inst: Words
    proc: Words
    members: Words  # instances by processor
    agenda: Words  # (2 x instances, 2) by host: heap of (time, instance, or instances + instance for a log record)
    tags: Words  # (instances, 2) by host: heap of (work at which the service ends, instance)
    turns: Words  # (instances, 3) by processor, as members: heap of (rank, ready, class << 40 | instance) of those with something to serve
    listed: Words  # (instances,) by host: threads to look at
    host: Words
    host_members: Words  # instances by host, ascending
    next_ns: Words  # (machines, trunks and actors,) when something is due there
    op: Words
    op_edges: Words  # edges by operator, document order
    edge: Words
    chan: Words
    carried: Words  # (channels, 2) how many records were sent and processed, where they are counted
    gate: Words  # (channels, gate columns) of barriers, logs and dependency vectors
    vectors: Words  # (rows, 4 + instances) what instances know of one another
    sent_to: Words  # (instances, instances) 1 if it has sent to the other since its last checkpoint
    align: Words  # (instances, alignment columns)
    inputs: Words  # channels by receiving instance
    input_first: Words
    credit: Words  # per bounded channel: when the k-th send is allowed
    latency: Words  # (hosts, hosts) ns, or -1 - the row of the pair's link
    link: Words
    memory: Words  # (machines and trunks, memory columns)
    footprint: Words  # (laws, edges) bytes of memory that a record on the edge takes
    curve: Words  # points of the hosts' curves: bytes used, factor of costs in units of 2^-16
    tally: Words  # (instances, tally columns)
    progress: Words  # (instances, progress columns), one row where nobody asks for epochs
    epochs: Words  # (source instances x epochs kept, epoch columns): a ring for each
    route: Words  # receiver index by hash edge and key group
    rings: Words  # (2 x hosts, n, 3) arrival, tie, message: local delay line and inbox of each host
    scratch: Words
    touched: Words
    log: Words  # of all sources, those of an instance one after the other
    par: Words
    par_f: NDArray[np.float64]
    points: Words  # the coordinates of all vectors that records carry by number
    points_f: NDArray[np.float64]
    point_first: Words  # where those of each field begin
    code: Words
    constants: Words
    stack: Words
    stack_f: NDArray[np.float64]
    table: Words  # hash buckets of keyed state
    entry: Words
    entry_f: NDArray[np.float64]
    row: Words
    row_f: NDArray[np.float64]
    pane: Words
    panes_of: Words  # first pane by (operator, instance, key group)
    histogram: Words  # (sinks of the measured latency, then of each of the others; buckets)
    latency_sums: Words  # (as `histogram`, 3): count, sum, maximum
    by_instance: Words  # (instances of sinks that measure each, buckets): of the measured latency
    trace: Words  # while tracing, by service: its times ...
    halves: NDArray[np.uint32]  # ... and what it was, and from which other services: half words of the same rows
    behind: Words  # (instances, 2) while tracing: row of the last service, when its emission ended
    notes: Words  # while tracing, by message: when it was sent, and where it stems from
    entry_origin: Words  # while tracing, by entry of keyed state: the service that took in its anchor
    row_origin: Words  # ... by stored row: the service that stored it
    outputs: Words
    changes: Words  # changes of keyed state that a local store has not taken yet
    change_words: Words  # by change: the words of its entry, then those of its stored row
    hook: Words  # a protocol's own state
    box: Words
    g: Words


class Arrays(Tables):
    """The tables, with a cache for their addresses in kernels: looking up some fifty arrays takes as long as hundreds of hops."""

    @cached_property
    def known(self) -> dict[Any, Any]:
        return {}

    def __reduce__(self) -> Any:
        return Arrays, tuple(self)  # copies have tables of their own


FRESH = {"entry": L.G_ENTRY_FRESH, "row": L.G_ROW_FRESH}
"""Tables whose rows are first used in order, and the scalar with the number used so far."""

TRACED = {"notes": "free", "entry_origin": "entry", "row_origin": "row"}
"""Tables filled only while tracing, and the table whose rows they follow. Without tracing they have one unused row."""

OF_DOCUMENT = ("points", "point_first")
"""Tables that never change and can be made again from the document, so snapshots leave them out."""

SAVED_AS = {"vectors": "lore"}
"""Tables with another name in snapshots, so that snapshots written before a table was renamed still fit."""

OBSERVED = ("outputs", "trace", "halves")
"""Tables kept for an observer. Whether they are kept is not part of the world's state."""

LINE_WORDS = 8
LINED = ("log", "msg", "inst", "entry", "row", "pane", "trace")
"""Tables whose rows start at cache lines, to minimise memory accesses per row."""

VIEWS: dict[str, tuple[str, type[np.generic]]] = {
    "msg_f": ("msg", np.float64),
    "stack_f": ("stack", np.float64),
    "entry_f": ("entry", np.float64),
    "par_f": ("par", np.float64),
    "points_f": ("points", np.float64),
    "row_f": ("row", np.float64),
    "halves": ("trace", np.uint32),
}
"""Tables that are views of other tables' memory in another type."""


ROWS_AHEAD = 1 << 23


@dataclass(frozen=True)
class Capacity:
    """Initial sizes of tables that grow. Small values are for tests of growth."""

    messages: int = 4096
    messages_ahead: int = 1 << 17  # so many rows lie ready: memory that is not touched costs nothing, and to copy what is in use costs much
    ring: int = 64
    entries: int = 4096  # that the buckets are made for
    rows: int | None = None  # None: one for each input record, at most ROWS_AHEAD: memory that is not touched costs nothing
    panes: int = 256
    trace: int | None = None  # None: one for each input record and operator, at most ROWS_AHEAD
    outputs: int = 65536
    changes: int = 65536


def lines(rows: int, columns: int, make: Callable[[int, type[np.int64]], Words] = np.zeros) -> Words:
    """Make an array (rows, columns rounded up to whole cache lines) whose rows start at cache lines.

    make: as `np.zeros`, or `buffers.words` for tables whose rows are never read before they are written. Untouched rows cost no memory.
    """
    stride = -(-columns // LINE_WORDS) * LINE_WORDS
    words = make(rows * stride + LINE_WORDS, np.int64)
    skip = -(words.ctypes.data // 8) % LINE_WORDS
    return words[skip : skip + rows * stride].reshape(rows, stride)


def row_of(prefix: str, values: Mapping[int, int]) -> list[int]:
    """A row of a table, from its values by column.

    prefix: prefix of the table's columns in `engine.core.layout`, such as "O_". Raises ValueError if a column has no value, and for a
    number that is not a column of the table.
    """
    columns = {number: name for name, number in vars(L).items() if name.startswith(prefix) and name != f"{prefix}COLUMNS"}
    if missing := [name for number, name in columns.items() if number not in values]:
        raise ValueError(f"the row has no value for {', '.join(missing)}")
    if unknown := sorted(values.keys() - columns.keys()):
        raise ValueError(f"the table of {prefix}COLUMNS has no column {unknown[0]}")
    return [int(values[number]) for number in range(len(columns))]


def arrays(**given: Words) -> Arrays:
    """`Arrays` with the views added."""
    views = {view: given[of].view(type) for view, (of, type) in VIEWS.items()}
    return Arrays(**given, **views)  # type: ignore[arg-type]  # names of the views are disjoint from the given ones
