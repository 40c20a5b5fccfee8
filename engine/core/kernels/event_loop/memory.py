"""Memory of a host (section 13), after the phases of an instant."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.dispatch import let_sources_read
from engine.core.kernels.memory import weigh
from engine.core.layout import *


def look_at_memory():
    """Section 13: update pressure and fullness at the end of the instant. Leave the host if it has died."""
    while IN_LOOP:  # over the instants
        if memory_on and memory[h, Z_WATCHED] == 1:
            weigh(world, h, t)
            if memory[h, Z_DIED] >= 0:
                host[h, H_RATE] = 0
                next_ns[h] = FAR
                if memory[h, Z_RESTART] < FAR:
                    reason = DEATH
                break
            if held_back and memory[h, Z_FULL] == 0:
                host[h, H_RESUME] = t + 1
                if dispatch_mode != DISPATCH_SCAN:
                    let_sources_read(world, h)
