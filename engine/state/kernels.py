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


def unlink(place, counts, p):
    """Take place `p` out of the list by use."""
    newer = place[p, C_NEWER]
    older = place[p, C_OLDER]
    if newer < 0:
        counts[K_NEWEST] = older
    else:
        place[newer, C_OLDER] = older
    if older < 0:
        counts[K_OLDEST] = newer
    else:
        place[older, C_NEWER] = newer


def to_front(place, counts, p):
    """Place `p`, which is in no list by use, was used last."""
    newest = counts[K_NEWEST]
    place[p, C_NEWER] = -1
    place[p, C_OLDER] = newest
    if newest < 0:
        counts[K_OLDEST] = p
    else:
        place[newest, C_NEWER] = p
    counts[K_NEWEST] = p


def mark_clean(place, counts, p):
    """Take place `p` out of the list of dirty ones."""
    before = place[p, C_BEFORE]
    after = place[p, C_AFTER]
    if before < 0:
        counts[K_FIRST] = after
    else:
        place[before, C_AFTER] = after
    if after < 0:
        counts[K_LAST] = before
    else:
        place[after, C_BEFORE] = before
    place[p, C_DIRTY] = 0
    counts[K_DIRTY] -= 1


def mark_dirty(place, counts, p):
    """Put place `p` behind the dirty ones."""
    last = counts[K_LAST]
    place[p, C_BEFORE] = last
    place[p, C_AFTER] = -1
    if last < 0:
        counts[K_FIRST] = p
    else:
        place[last, C_AFTER] = p
    counts[K_LAST] = p
    place[p, C_DIRTY] = 1
    counts[K_DIRTY] += 1


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
        unlink(place, counts, p)
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
                unlink(place, counts, p)
            if kind == READ:
                counts[K_HITS if p >= 0 else K_MISSES] += 1
            if p < 0:
                p = place_for(place, counts, place_of, out, now, key)
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 0
            to_front(place, counts, p)
            if kind != READ:
                if place[p, C_DIRTY] != 0:
                    mark_clean(place, counts, p)
                    counts[K_ABSORBED] += 1
                mark_dirty(place, counts, p)
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 1 if kind == DELETE else 0
                if counts[K_DIRTY] >= batch:
                    write_out(place, counts, out, now, OF_BATCH)
