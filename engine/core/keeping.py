"""What an operator kind says about its keyed state, so that it can be captured, moved and stored (`engine.core.control.keyed_state`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.tables import Arrays, Words


@dataclass(frozen=True)
class Keeping:
    """How an operator kind keeps its keyed state, beside entries and their rows.

    sizes(w, at, entries, values): bytes by entry, as the kind's kernels account them; at: the operator's parameters in w.par. entries:
    (n, columns) as in the world's table. values: (n,) distinct values that each holds.
    in_order(w, i): numbers of the instance's entries in the order that matters; None: none does.
    relink(w, i, entries): build the ways to the entries of the instance anew. entries: the numbers of all that it has, in order; what else
    the ways lead to is gone. None: there are no such ways.
    links(w, at): columns of entries that are such ways. None: there are none.
    """

    sizes: Callable[[Arrays, int, Words, Words], Words]
    in_order: Callable[[Arrays, int], Words] | None = None
    relink: Callable[[Arrays, int, Words], None] | None = None
    links: Callable[[Arrays, int], range] | None = None
