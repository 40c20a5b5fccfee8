"""What an instance would serve next, and which instances of a host are looked at (docs/event-core.md, section 2, phase 5)."""

from engine.core.compiler import rare
from engine.core.layout import *


def turn_of(ready, of_class):
    """Ready time and class of an item in one word: of two items the one with the lesser word is served first."""
    return ready << 2 | of_class


def may_read(inst, log, held_back, i):
    """Whether instance `i` has a next row in its log that it may take once it is due; a host that is full holds back records only."""
    return inst[i, I_SOURCE] == 1 and inst[i, I_LOG] < inst[i, I_LOG_END] and not (held_back and log[inst[i, I_LOG], D_TRIGGER] >= 0)


def next_turn(inst, log, held_back, control_mode, i, t):
    """The turn of what instance `i` would serve next at `t`, FAR if there is nothing. control_mode: CONTROL_*.

    A control message at the head of a source's queue comes before its log.
    """
    turn = inst[i, I_HEAD]
    reads = control_mode == CONTROL_OFF or turn & 3 < CLASS_LOCAL
    if reads and may_read(inst, log, held_back, i) and log[inst[i, I_LOG], D_APPEND] <= t:
        turn = min(turn, turn_of(log[inst[i, I_LOG], D_APPEND], CLASS_LOG))
    return turn


def look_at(world, h, i):
    """Thread `i` of host `h` may have something to serve."""
    host = world.host
    inst = world.inst
    if inst[i, I_LISTED] == LISTED_NO:
        inst[i, I_LISTED] = LISTED_SCAN
        world.listed[host[h, H_MEMBER] + host[h, H_LISTED]] = i
        host[h, H_LISTED] += 1


@rare
def empty_turns(world, h):
    """Nobody on host `h` stands in a heap of turns; those who did are looked at."""
    host = world.host
    inst = world.inst
    for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
        i = world.host_members[q]
        if inst[i, I_LISTED] == LISTED_HEAP:
            inst[i, I_LISTED] = LISTED_NO
            look_at(world, h, i)
    for p in range(host[h, H_PROCESSOR], host[h, H_PROCESSOR_END]):
        world.proc[p, P_TURNS] = 0


@rare
def let_sources_read(world, h):
    """Sources of host `h` may take log records that were held back: they, and whoever waits for a turn behind them, are looked at again."""
    host = world.host
    empty_turns(world, h)
    for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
        i = world.host_members[q]
        if world.inst[i, I_SOURCE] == 1:
            look_at(world, h, i)
