"""Background work: it belongs to no instance and takes a processor of its host (docs/event-core.md, section 17)."""

from engine.core.compiler import rare
from engine.core.layout import *


@rare
def begin_background_work(world, h, t):
    """All that waits on host `h` takes its first idle processor, if there is one."""
    host = world.host
    proc = world.proc
    for p in range(host[h, H_PROCESSOR], host[h, H_PROCESSOR_END]):
        if proc[p, P_INSTANCE] == -1:
            lasts = max(1, (host[h, H_BACKGROUND_PS] + host[h, H_SPEED] - 1) // host[h, H_SPEED])
            host[h, H_BACKGROUND_PS] = 0
            host[h, H_BACKGROUND_NS] += lasts
            host[h, H_BACKGROUND_END] = t + lasts
            proc[p, P_INSTANCE] = BACKGROUND
            if host[h, H_DISPATCH] == DISPATCH_TURN_HEAP:
                host[h, H_IDLE] -= 1
            break


@rare
def end_background_work(world, h):
    """The processor of host `h` that did background work is idle again."""
    host = world.host
    proc = world.proc
    host[h, H_BACKGROUND_END] = FAR
    for p in range(host[h, H_PROCESSOR], host[h, H_PROCESSOR_END]):
        if proc[p, P_INSTANCE] == BACKGROUND:
            proc[p, P_INSTANCE] = -1
            if host[h, H_DISPATCH] == DISPATCH_TURN_HEAP:
                host[h, H_IDLE] += 1
