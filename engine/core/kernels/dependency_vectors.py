"""What instances know of one another's checkpoints, and what they tell with every record: the vectors of communication-induced
checkpointing (docs/checkpointing.md; Siachamis 2024, 3.3.3). Kernels of the loop; the readable form is
`engine.checkpointing.forced_checkpoints`.

A row of `lore` is one state of the vectors of one instance. The first rows are those of the instances themselves, which change; what is
sent is a copy, made when a record is sent for the first time since the last change, and shared by all records until the next one.
"""

from engine.core.compiler import compiled
from engine.core.layout import *


def publish(world, i):
    """The row that says what instance `i` knows; the caller has checked that there is a free one."""
    lore = world.lore
    g = world.g
    if lore[i, KNOWN_SHARED] < 0:
        made = g[G_LORE_FREE]
        g[G_LORE_FREE] = lore[made, KNOWN_SHARED]
        g[G_LORE_ROWS_FREE] -= 1
        for c in range(KNOWN_CLOCK, lore.shape[1]):
            lore[made, c] = lore[i, c]
        g[G_LORE_SERIAL] += 1
        lore[made, KNOWN_SERIAL] = g[G_LORE_SERIAL]
        lore[i, KNOWN_SHARED] = made
    return lore[i, KNOWN_SHARED]


def must_force(world, i, told):
    """Whether instance `i` has to take a checkpoint before it serves a record that brings row `told`."""
    lore = world.lore
    rule = world.g[G_LORE_RULE]
    forced = False
    if rule & RULE_INDEX > 0:
        forced = lore[told, KNOWN_CLOCK] > lore[i, KNOWN_CLOCK]
    else:
        if rule & RULE_CLOCK > 0 and lore[told, KNOWN_CLOCK] > lore[i, KNOWN_CLOCK]:
            n = world.inst.shape[0]
            for k in range(n):
                if lore[told, KNOWN_FIRST + k] & KNOWS_GREATER > 0 and world.sent_to[i, k] > 0:
                    forced = True
                    break
        if rule & RULE_CYCLE > 0 and lore[told, KNOWN_FIRST + i] >> 2 == lore[i, KNOWN_FIRST + i] >> 2:
            forced = forced or lore[told, KNOWN_FIRST + i] & KNOWS_TAKEN > 0
    return forced


def reasons(world, i, told):
    """By which of the rules (`RULE_*`) row `told` forces a checkpoint of instance `i`, as bits. Between two calls of the loop."""
    lore = world.lore
    rule = int(world.g[G_LORE_RULE])
    first = lore[told, KNOWN_FIRST : KNOWN_FIRST + len(world.inst)]
    later = lore[told, KNOWN_CLOCK] > lore[i, KNOWN_CLOCK]
    by_clock = later and ((first & KNOWS_GREATER > 0) & (world.sent_to[i] > 0)).any()
    by_cycle = first[i] >> 2 == lore[i, KNOWN_FIRST + i] >> 2 and first[i] & KNOWS_TAKEN > 0
    return rule & (RULE_INDEX * later | RULE_CLOCK * by_clock | RULE_CYCLE * by_cycle)


def merge(world, i, told):
    """Instance `i` knows what row `told` says, too."""
    lore = world.lore
    n = world.inst.shape[0]
    changed = 0
    clock = lore[told, KNOWN_CLOCK]
    own = lore[i, KNOWN_CLOCK]
    if clock > own:
        lore[i, KNOWN_CLOCK] = clock
        changed = 1
    if world.g[G_LORE_RULE] & RULE_INDEX == 0:
        for k in range(n):
            if k == i:
                continue
            mine = lore[i, KNOWN_FIRST + k]
            theirs = lore[told, KNOWN_FIRST + k]
            greater = mine & KNOWS_GREATER
            if clock > own:
                greater = theirs & KNOWS_GREATER
            elif clock == own:
                greater = greater & theirs
            taken = mine & KNOWS_TAKEN
            count = mine >> 2
            if theirs >> 2 > count:
                count = theirs >> 2
                taken = theirs & KNOWS_TAKEN
            elif theirs >> 2 == count:
                taken = taken | (theirs & KNOWS_TAKEN)
            made = count << 2 | taken | greater
            if made != mine:
                lore[i, KNOWN_FIRST + k] = made
                changed = 1
    if changed == 1:
        lore[i, KNOWN_SHARED] = -1


@compiled
def note_checkpoint(world, i, told):
    """Instance `i` takes a checkpoint. told: the row that forces it, -1 if none does."""
    lore = world.lore
    n = world.inst.shape[0]
    lore[i, KNOWN_SHARED] = -1
    if world.g[G_LORE_RULE] & RULE_INDEX > 0:
        if told >= 0:
            lore[i, KNOWN_CLOCK] = lore[told, KNOWN_CLOCK]
        else:
            lore[i, KNOWN_CLOCK] += 1
        return 0
    for k in range(n):
        world.sent_to[i, k] = 0
        if k != i:
            lore[i, KNOWN_FIRST + k] |= KNOWS_TAKEN | KNOWS_GREATER
    lore[i, KNOWN_CLOCK] += 1
    lore[i, KNOWN_FIRST + i] += 4
    return 0


@compiled
def sweep(world, column):
    """Free the rows that nobody brings any more. column: of a message, its row. Returns how many are free then."""
    lore = world.lore
    msg = world.msg
    g = world.g
    n = world.inst.shape[0]
    for v in range(lore.shape[0]):
        lore[v, KNOWN_MARK] = 0
    for s in range(world.free.shape[0]):
        msg[s, M_NEXT] = msg[s, M_NEXT] * 2  # the lowest bit says whether the message is free
    for f in range(g[G_FREE]):
        msg[world.free[f], M_NEXT] |= 1
    for s in range(world.free.shape[0]):
        if msg[s, M_NEXT] & 1 == 0 and msg[s, M_KIND] == RECORD and msg[s, M_CHANNEL] >= 0 and msg[s, column] >= n:
            lore[msg[s, column], KNOWN_MARK] = 1
        msg[s, M_NEXT] = msg[s, M_NEXT] >> 1
    for i in range(n):
        if lore[i, KNOWN_SHARED] >= 0:
            lore[lore[i, KNOWN_SHARED], KNOWN_MARK] = 1
    g[G_LORE_FREE] = -1
    g[G_LORE_ROWS_FREE] = 0
    for v in range(lore.shape[0] - 1, n - 1, -1):
        if lore[v, KNOWN_MARK] == 0:
            lore[v, KNOWN_SHARED] = g[G_LORE_FREE]
            lore[v, KNOWN_SERIAL] = -1
            g[G_LORE_FREE] = v
            g[G_LORE_ROWS_FREE] += 1
    return g[G_LORE_ROWS_FREE]
