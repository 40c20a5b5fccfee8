"""Kernels of local stores: from changes of state to operations, which entry leaves the cache when, and what a request takes along."""

from engine.core.compiler import compiled
from engine.core.kernels.hashing import mix64
from engine.core.layout import (
    CHANGE_ADD,
    CHANGE_CLEAR,
    CHANGE_COUNT,
    CHANGE_FOLD,
    CHANGE_GET,
    CHANGE_KEY,
    CHANGE_KIND,
    CHANGE_PANE,
    CHANGE_READ,
    CHANGE_TIME,
)

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


# a name: key, start of the window, side; the number of its one key in the store, -1 if it has none; the first and the last of its retained
# records, -1 if it has none; the next name of its bucket
NAME_KEY, NAME_PANE, NAME_SIDE, NAME_NUMBER, NAME_FIRST, NAME_LAST, NAME_LINK, NAME_WORDS = range(8)
# how many keys, names, retained records and changes there were; operations of the last call
TOTAL_KEYS, TOTAL_NAMES, TOTAL_RETAINED, TOTAL_CHANGES, OUT_COUNT, TOTAL_WORDS = range(6)
# bytes: of the text in front of keys, of a value, of a record beside its key by side; how often a record has the key; 1 if keys are texts
SIZE_TEXT, SIZE_VALUE, SIZE_RECORD, SIZE_OTHER_RECORD, SIZE_REPEATS, SIZE_OF_TEXTS, SIZE_WORDS = range(7)
KEY_EXTRA_BYTES = 16  # of a key in the store: its window and its sequence number
TIME_BYTES = 8  # of a retained record: when it came


def name_bucket(key, pane, side, buckets):
    return mix64(key ^ (pane * -7046029254386353131) ^ side) & (buckets.shape[0] - 1)


@compiled
def link_names(names, buckets, count):
    for n in range(count):
        b = name_bucket(names[n, NAME_KEY], names[n, NAME_PANE], names[n, NAME_SIDE], buckets)
        names[n, NAME_LINK] = buckets[b]
        buckets[b] = n


def name_of(names, buckets, totals, key, pane, side):
    """The name, a new one if need be."""
    b = name_bucket(key, pane, side, buckets)
    n = buckets[b]
    while n >= 0 and not (names[n, NAME_KEY] == key and names[n, NAME_PANE] == pane and names[n, NAME_SIDE] == side):
        n = names[n, NAME_LINK]
    if n < 0:
        n = totals[TOTAL_NAMES]
        totals[TOTAL_NAMES] = n + 1
        names[n, NAME_KEY] = key
        names[n, NAME_PANE] = pane
        names[n, NAME_SIDE] = side
        names[n, NAME_NUMBER] = -1
        names[n, NAME_FIRST] = -1
        names[n, NAME_LAST] = -1
        names[n, NAME_LINK] = buckets[b]
        buckets[b] = n
    return n


def number_key(words, totals, key, pane, sequence):
    """A new key of the store."""
    number = totals[TOTAL_KEYS]
    totals[TOTAL_KEYS] = number + 1
    words[number, 0] = key
    words[number, 1] = pane
    words[number, 2] = sequence
    return number


def own_bytes(key, sizes, of_texts):
    """Of a key: of its text, or its digits and sign."""
    if sizes[SIZE_OF_TEXTS] != 0:
        return of_texts[key]
    found = 1
    left = key
    if key < 0:
        found = 2
        left = -key
    while left >= 10:
        left = left // 10
        found += 1
    return found


def put_out(out, totals, kind, time, number, value, size):
    n = totals[OUT_COUNT]
    out[n, OP_KIND] = kind
    out[n, OP_TIME] = time
    out[n, OP_KEY] = number
    out[n, OP_VALUE] = value
    out[n, OP_SIZE] = size
    totals[OUT_COUNT] = n + 1


@compiled
def translate(changes, out, words, names, buckets, after, totals, sizes, of_texts):
    """Write the operations of the changes to `out`. The caller has checked for room in all tables."""
    totals[OUT_COUNT] = 0
    for m in range(changes.shape[0]):
        time = changes[m, CHANGE_TIME]
        kind = changes[m, CHANGE_KIND]
        key = changes[m, CHANGE_KEY]
        pane = changes[m, CHANGE_PANE]
        value = totals[TOTAL_CHANGES]
        totals[TOTAL_CHANGES] = value + 1
        own = own_bytes(key, sizes, of_texts)
        stored = own + sizes[SIZE_TEXT] + KEY_EXTRA_BYTES
        if kind <= CHANGE_CLEAR:
            put_out(out, totals, SCAN, time, 0, 0, 0)
        if kind == CHANGE_READ:
            continue
        side = 0
        if kind >= CHANGE_GET:
            side = changes[m, CHANGE_COUNT]
        retained = TIME_BYTES + own + sizes[SIZE_TEXT] + sizes[SIZE_RECORD + side] + sizes[SIZE_REPEATS] * own
        n = name_of(names, buckets, totals, key, pane, side)
        if kind == CHANGE_ADD:
            number = number_key(words, totals, key, pane, totals[TOTAL_RETAINED])
            totals[TOTAL_RETAINED] += 1
            if names[n, NAME_FIRST] < 0:
                names[n, NAME_FIRST] = number
            else:
                after[names[n, NAME_LAST]] = number
            names[n, NAME_LAST] = number
            after[number] = -1
            put_out(out, totals, PUT, time, number, value, stored + retained)
        elif kind == CHANGE_CLEAR:
            if names[n, NAME_NUMBER] >= 0:
                put_out(out, totals, DELETE, time, names[n, NAME_NUMBER], 0, stored)
            number = names[n, NAME_FIRST]
            while number >= 0:
                put_out(out, totals, DELETE, time, number, 0, stored)
                number = after[number]
            names[n, NAME_FIRST] = -1
        else:
            if names[n, NAME_NUMBER] < 0:
                names[n, NAME_NUMBER] = number_key(words, totals, key, pane, side)
            number = names[n, NAME_NUMBER]
            if kind == CHANGE_GET:
                put_out(out, totals, READ, time, number, 0, stored + retained)
            else:
                put_out(out, totals, PUT, time, number, value, stored + (sizes[SIZE_VALUE] if kind == CHANGE_FOLD else retained))


# of a sender: when its request began and is answered, whether records wait for the next one, how many requests there were
SEND_BEGAN, SEND_ANSWERED, SEND_WAITS, SEND_REQUESTS, SEND_WORDS = range(5)


def begin_request(sender, at, request_ns):
    sender[SEND_BEGAN] = at
    sender[SEND_ANSWERED] = at + request_ns
    sender[SEND_WAITS] = 0
    sender[SEND_REQUESTS] += 1


@compiled
def send(times, sender, request_ns):
    """Records are handed over at these times, ascending. Those of the moment in which a request begins are part of it."""
    for n in range(times.shape[0]):
        t = times[n]
        if sender[SEND_WAITS] != 0 and sender[SEND_ANSWERED] <= t:
            begin_request(sender, sender[SEND_ANSWERED], request_ns)
        if sender[SEND_ANSWERED] <= t:
            begin_request(sender, t, request_ns)
        elif sender[SEND_BEGAN] < t:
            sender[SEND_WAITS] = 1
