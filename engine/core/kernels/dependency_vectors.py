"""What instances know of one another's checkpoints, and what they tell with every record: the vectors of communication-induced
checkpointing (docs/checkpointing.md; Siachamis 2024, 3.3.3). Kernels of the loop; the readable form is
`engine.checkpointing.forced_checkpoints`.

A row of `vectors` is one state of the vectors of one instance. The first rows are those of the instances themselves, which change; what is
sent is a copy, made when a record is sent for the first time since the last change, and shared by all records until the next one.
"""

from engine.core.compiler import compiled
from engine.core.layout import *


def publish(world, i):
    """The row that says what instance `i` knows; the caller has checked that there is a free one."""
    vectors = world.vectors
    g = world.g
    if vectors[i, KNOWN_SHARED] < 0:
        made = g[G_VECTOR_FREE]
        g[G_VECTOR_FREE] = vectors[made, KNOWN_SHARED]
        g[G_VECTOR_ROWS_FREE] -= 1
        for c in range(KNOWN_CLOCK, vectors.shape[1]):
            vectors[made, c] = vectors[i, c]
        g[G_VECTOR_SERIAL] += 1
        vectors[made, KNOWN_SERIAL] = g[G_VECTOR_SERIAL]
        vectors[i, KNOWN_SHARED] = made
    return vectors[i, KNOWN_SHARED]


def must_force(world, i, received_row):
    """Whether instance `i` has to take a checkpoint before it serves a record that brings row `received_row`."""
    vectors = world.vectors
    rule = world.g[G_FORCING_RULE]
    forced = False
    if rule & RULE_INDEX > 0:
        forced = vectors[received_row, KNOWN_CLOCK] > vectors[i, KNOWN_CLOCK]
    else:
        if rule & RULE_CLOCK > 0 and vectors[received_row, KNOWN_CLOCK] > vectors[i, KNOWN_CLOCK]:
            n = world.inst.shape[0]
            for k in range(n):
                if vectors[received_row, KNOWN_FIRST + k] & KNOWS_GREATER > 0 and world.sent_to[i, k] > 0:
                    forced = True
                    break
        if rule & RULE_CYCLE > 0 and vectors[received_row, KNOWN_FIRST + i] >> 2 == vectors[i, KNOWN_FIRST + i] >> 2:
            forced = forced or vectors[received_row, KNOWN_FIRST + i] & KNOWS_TAKEN > 0
    return forced


def reasons(world, i, received_row):
    """By which of the rules (`RULE_*`) row `received_row` forces a checkpoint of instance `i`, as bits. Between two calls of the loop."""
    vectors = world.vectors
    rule = int(world.g[G_FORCING_RULE])
    first = vectors[received_row, KNOWN_FIRST : KNOWN_FIRST + len(world.inst)]
    later = vectors[received_row, KNOWN_CLOCK] > vectors[i, KNOWN_CLOCK]
    by_clock = later and ((first & KNOWS_GREATER > 0) & (world.sent_to[i] > 0)).any()
    by_cycle = first[i] >> 2 == vectors[i, KNOWN_FIRST + i] >> 2 and first[i] & KNOWS_TAKEN > 0
    return rule & (RULE_INDEX * later | RULE_CLOCK * by_clock | RULE_CYCLE * by_cycle)


def merge(world, i, received_row):
    """Instance `i` knows what row `received_row` says, too."""
    vectors = world.vectors
    n = world.inst.shape[0]
    changed = 0
    clock = vectors[received_row, KNOWN_CLOCK]
    own = vectors[i, KNOWN_CLOCK]
    if clock > own:
        vectors[i, KNOWN_CLOCK] = clock
        changed = 1
    if world.g[G_FORCING_RULE] & RULE_INDEX == 0:
        for k in range(n):
            if k == i:
                continue
            mine = vectors[i, KNOWN_FIRST + k]
            theirs = vectors[received_row, KNOWN_FIRST + k]
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
                vectors[i, KNOWN_FIRST + k] = made
                changed = 1
    if changed == 1:
        vectors[i, KNOWN_SHARED] = -1


@compiled
def note_checkpoint(world, i, received_row):
    """Instance `i` takes a checkpoint. received_row: the row that forces it, -1 if none does."""
    vectors = world.vectors
    n = world.inst.shape[0]
    vectors[i, KNOWN_SHARED] = -1
    if world.g[G_FORCING_RULE] & RULE_INDEX > 0:
        if received_row >= 0:
            vectors[i, KNOWN_CLOCK] = vectors[received_row, KNOWN_CLOCK]
        else:
            vectors[i, KNOWN_CLOCK] += 1
        return 0
    for k in range(n):
        world.sent_to[i, k] = 0
        if k != i:
            vectors[i, KNOWN_FIRST + k] |= KNOWS_TAKEN | KNOWS_GREATER
    vectors[i, KNOWN_CLOCK] += 1
    vectors[i, KNOWN_FIRST + i] += 4
    return 0


@compiled
def sweep(world, column):
    """Free the rows that nobody brings any more. column: of a message, its row. Returns how many are free then."""
    vectors = world.vectors
    msg = world.msg
    g = world.g
    n = world.inst.shape[0]
    for v in range(vectors.shape[0]):
        vectors[v, KNOWN_MARK] = 0
    for s in range(world.free.shape[0]):
        msg[s, M_NEXT] = msg[s, M_NEXT] * 2  # the lowest bit says whether the message is free
    for f in range(g[G_FREE]):
        msg[world.free[f], M_NEXT] |= 1
    for s in range(world.free.shape[0]):
        if msg[s, M_NEXT] & 1 == 0 and msg[s, M_KIND] == RECORD and msg[s, M_CHANNEL] >= 0 and msg[s, column] >= n:
            vectors[msg[s, column], KNOWN_MARK] = 1
        msg[s, M_NEXT] = msg[s, M_NEXT] >> 1
    for i in range(n):
        if vectors[i, KNOWN_SHARED] >= 0:
            vectors[vectors[i, KNOWN_SHARED], KNOWN_MARK] = 1
    g[G_VECTOR_FREE] = -1
    g[G_VECTOR_ROWS_FREE] = 0
    for v in range(vectors.shape[0] - 1, n - 1, -1):
        if vectors[v, KNOWN_MARK] == 0:
            vectors[v, KNOWN_SHARED] = g[G_VECTOR_FREE]
            vectors[v, KNOWN_SERIAL] = -1
            g[G_VECTOR_FREE] = v
            g[G_VECTOR_ROWS_FREE] += 1
    return g[G_VECTOR_ROWS_FREE]
