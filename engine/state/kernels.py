"""Kernels of the cache above a local store: which entry leaves when."""

from engine.core.compiler import compiled

PUT, DELETE, READ, SCAN, COMMIT = range(5)
"""What an operator does with its store. READ is of one key, SCAN of a range. COMMIT writes out what is dirty."""
CAUSES = "batch", "eviction", "scan", "commit"
"""Why dirty entries were written out."""
OF_BATCH, OF_EVICTION, OF_SCAN, OF_COMMIT = range(len(CAUSES))

# columns of operations, and of what is written
OP_KIND, OP_TIME, OP_KEY, OP_VALUE, OP_SIZE, OP_WORDS = range(6)
OUT_TIME, OUT_KEY, OUT_VALUE, OUT_SIZE, OUT_TOMBSTONE, OUT_BATCH, OUT_WORDS = range(7)
# columns of a place in the cache. Places are linked from the one used last to the one used first; dirty ones also in order of their change
C_KEY, C_VALUE, C_SIZE, C_TOMBSTONE, C_DIRTY, C_NEWER, C_OLDER, C_BEFORE, C_AFTER, C_WORDS = range(10)
# counters and ends of lists
K_USED, K_DIRTY, K_NEWEST, K_OLDEST, K_FIRST, K_LAST, K_OUT, K_BATCH, K_HITS, K_MISSES, K_ABSORBED, K_CAUSES = range(12)
K_WORDS = K_CAUSES + len(CAUSES)


def take_out(place, counts, p, before, after, first, last):
    """Take place `p` out of a list. before, after: its columns of links. first, last: where its ends are noted."""
    ahead = place[p, before]
    behind = place[p, after]
    if ahead < 0:
        counts[first] = behind
    else:
        place[ahead, after] = behind
    if behind < 0:
        counts[last] = ahead
    else:
        place[behind, before] = ahead


def append(place, counts, p, before, after, first, last):
    """Put place `p`, which is not in the list, at its end."""
    ahead = counts[last]
    place[p, before] = ahead
    place[p, after] = -1
    if ahead < 0:
        counts[first] = p
    else:
        place[ahead, after] = p
    counts[last] = p


def write_out(place, counts, out, now, cause):
    """All dirty entries leave, the one changed first at first. They stay in the cache."""
    if counts[K_DIRTY] > 0:
        p = counts[K_FIRST]
        n = counts[K_OUT]
        while p >= 0:
            out[n, OUT_TIME] = now
            out[n, OUT_KEY] = place[p, C_KEY]
            out[n, OUT_VALUE] = place[p, C_VALUE]
            out[n, OUT_SIZE] = place[p, C_SIZE]
            out[n, OUT_TOMBSTONE] = place[p, C_TOMBSTONE]
            out[n, OUT_BATCH] = counts[K_BATCH]
            place[p, C_DIRTY] = 0
            n += 1
            p = place[p, C_AFTER]
        counts[K_OUT] = n
        counts[K_FIRST] = -1
        counts[K_LAST] = -1
        counts[K_DIRTY] = 0
        counts[K_BATCH] += 1
        counts[K_CAUSES + cause] += 1


def place_for(place, counts, place_of, out, now, key):
    """A place for a key that is not in the cache: a free one, or that which was used first."""
    p = counts[K_USED]
    if p < place.shape[0]:
        counts[K_USED] = p + 1
    else:
        p = counts[K_OLDEST]
        if place[p, C_DIRTY] != 0:
            write_out(place, counts, out, now, OF_EVICTION)
        take_out(place, counts, p, C_OLDER, C_NEWER, K_OLDEST, K_NEWEST)
        place_of[place[p, C_KEY]] = -1
    place[p, C_KEY] = key
    place[p, C_DIRTY] = 0
    place_of[key] = p
    return p


@compiled
def carry_out(operations, place, counts, place_of, out, batch):
    """Carry out operations, rows (kind, time, key, value, size), and note in `out` what leaves the cache."""
    for n in range(operations.shape[0]):
        kind = operations[n, OP_KIND]
        now = operations[n, OP_TIME]
        key = operations[n, OP_KEY]
        if kind == SCAN:
            write_out(place, counts, out, now, OF_SCAN)
        elif kind == COMMIT:
            write_out(place, counts, out, now, OF_COMMIT)
        else:
            p = place_of[key]
            if p >= 0:
                take_out(place, counts, p, C_OLDER, C_NEWER, K_OLDEST, K_NEWEST)
            if kind == READ:
                counts[K_HITS if p >= 0 else K_MISSES] += 1
            if p < 0:
                p = place_for(place, counts, place_of, out, now, key)
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 0
            append(place, counts, p, C_OLDER, C_NEWER, K_OLDEST, K_NEWEST)
            if kind != READ:
                if place[p, C_DIRTY] != 0:
                    take_out(place, counts, p, C_BEFORE, C_AFTER, K_FIRST, K_LAST)
                    counts[K_DIRTY] -= 1
                    counts[K_ABSORBED] += 1
                append(place, counts, p, C_BEFORE, C_AFTER, K_FIRST, K_LAST)
                place[p, C_DIRTY] = 1
                counts[K_DIRTY] += 1
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 1 if kind == DELETE else 0
                if counts[K_DIRTY] >= batch:
                    write_out(place, counts, out, now, OF_BATCH)
