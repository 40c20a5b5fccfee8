"""Description of an operator kind's keyed state, so that it can be captured, moved and stored (`engine.core.control.keyed_state`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.tables import Arrays, Words


@dataclass(frozen=True)
class Keeping:
    """How an operator kind keeps its keyed state, in addition to entries and their rows.

    sizes(w, at, entries, values): bytes by entry, as the kind's kernels account them. at: start of the operator's parameters in w.par.
    entries: (n, columns) as in the world's table. values: (n,) number of distinct values of each entry.
    in_order(w, i): numbers of the instance's entries in the order that matters; None: order does not matter.
    relink(w, i, entries): rebuild the indexes over the instance's entries. entries: numbers of all its entries, in order; the old indexes
    may refer to entries that are gone. None: no indexes.
    by_key_groups: whether an entry's key is the one by which edges hash, so that key groups can be taken out and put in one by one. If not,
    an instance's state is captured and restored as a whole.
    links(w, at): columns of entries that belong to an index. None: no such columns.
    """

    sizes: Callable[[Arrays, int, Words, Words], Words]
    in_order: Callable[[Arrays, int], Words] | None = None
    relink: Callable[[Arrays, int, Words], None] | None = None
    links: Callable[[Arrays, int], range] | None = None
    by_key_groups: bool = True
