"""Memory use of hosts, for policies and observers, and its recount after changes between two calls of the loop."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.kernels import bulk
from engine.core.tables import Arrays, Words


def unsent_bytes(w: Arrays) -> Words:
    """Accounting bytes of outputs produced and not yet sent, by instance. Shape (instances,)."""
    found = np.zeros(len(w.inst), np.int64)
    bulk.unsent_bytes(w.inst, w.op, w.par, w.edge, w.msg, found)
    return found


def held_bytes(w: Arrays) -> Words:
    """Accounting bytes of queues, unsent outputs and state. Shape (3, instances)."""
    return np.stack([w.inst[:, L.I_QUEUE_BYTES], unsent_bytes(w), w.inst[:, L.I_STATE_BYTES]])


def recount(w: Arrays, h: int) -> None:
    """Recount the memory of host `h`. Call it after changing queues, outboxes or state in Python.

    Consequences (pressure, fullness, death) take effect at the end of the host's next instant.
    """
    bulk.recount(w, h)
