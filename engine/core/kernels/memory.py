"""What a host holds in memory, and what follows from it (docs/event-core.md, section 13)."""

from engine.core.compiler import rare
from engine.core.layout import *


def is_memory_on(memory):
    """Whether anything follows from what some host holds."""
    found = False
    for h in range(memory.shape[0]):
        if memory[h, Z_WATCHED] == 1:
            found = True
    return found


def room_of(world, h, slot):
    """Bytes of memory that a message which was sent takes in a queue of host `h`."""
    msg = world.msg
    room = 0
    if msg[slot, M_KIND] == RECORD:
        room = world.footprint[world.memory[h, Z_LAW], msg[slot, M_EDGE]]
    elif msg[slot, M_KIND] == WATERMARK or msg[slot, M_KIND] == BARRIER or msg[slot, M_KIND] == MARKER:
        room = CONTROL_BYTES
    elif msg[slot, M_KIND] == CONTROL_MESSAGE:
        room = msg[slot, M_BYTES]
    return room


def room_unsent(world, h, o, slot):
    """Bytes of memory that an output of operator `o` takes on host `h` until it is sent."""
    msg = world.msg
    op = world.op
    room = CONTROL_BYTES
    if msg[slot, M_KIND] == CONTROL_MESSAGE:
        room = msg[slot, M_BYTES]
    elif msg[slot, M_KIND] == RECORD or msg[slot, M_KIND] == PENDING:
        port = 0
        if op[o, O_PORTS] > 1:
            port = msg[slot, M_EDGE]
        e = world.par[op[o, O_PORT_WIDTHS] + op[o, O_PORTS] + port]
        room = 0
        if e >= 0:
            room = world.footprint[world.memory[h, Z_LAW], e]
        if msg[slot, M_KIND] == PENDING:
            room *= msg[slot, PENDING_LEFT]
    return room


def pressure_at(memory, curve, h, used):
    """What `used` bytes make of costs on host `h`, in units of 2^-16 (docs/event-core.md, 13.1)."""
    first = memory[h, Z_CURVE]
    k = memory[h, Z_CURVE_END] - 1
    factor = NO_PRESSURE
    if k >= first:
        while k > first and curve[k, CURVE_BYTES] > used:
            k -= 1
        factor = curve[k, CURVE_FACTOR]
        if k + 1 < memory[h, Z_CURVE_END] and used > curve[k, CURVE_BYTES]:
            way = ((used - curve[k, CURVE_BYTES]) << 16) // (curve[k + 1, CURVE_BYTES] - curve[k, CURVE_BYTES])
            factor += (curve[k + 1, CURVE_FACTOR] - factor) * way >> 16
    return factor


@rare
def weigh(world, h, t):
    """Look at what host `h` holds at the end of instant `t`: pressure, fullness, death (docs/event-core.md, 13)."""
    memory = world.memory
    used = 0
    if memory[h, Z_MODELLED] == 1:
        used = memory[h, Z_BASE] + memory[h, Z_HELD] + memory[h, Z_STATE] * memory[h, Z_STATE_MILLI] // 1000
        if used != memory[h, Z_USED]:
            memory[h, Z_PRESSURE] = pressure_at(memory, world.curve, h, used)
            if used > memory[h, Z_PEAK]:
                memory[h, Z_PEAK] = used
            if used > memory[h, Z_LIMIT]:
                memory[h, Z_DIED] = t
    memory[h, Z_USED] = used
    if memory[h, Z_INGRESS] != INGRESS_READ:
        if memory[h, Z_ITEMS] > memory[h, Z_ITEMS_MAX] or used > memory[h, Z_USED_MAX]:
            memory[h, Z_FULL] = 1
        elif memory[h, Z_ITEMS] <= memory[h, Z_ITEMS_RESUME] and used <= memory[h, Z_USED_RESUME]:
            memory[h, Z_FULL] = 0
