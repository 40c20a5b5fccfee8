"""Helpers of the loop and of the operators' kernels, put in place where they are called: over the world, or the few tables they use."""

from engine.core.compiler import prefetch, rare
from engine.core.kernels.alignment import is_barred, lay_aside, put_first
from engine.core.layout import *


def mix64(x):
    """Finaliser of splitmix64 on a 64-bit word, in signed arithmetic that wraps."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


def group_of(key, scheme, groups):
    """Key group of a key: mix64(key) mod groups on the unsigned word, or key mod groups."""
    if scheme == SCHEME_MODULO:
        return key % groups
    z = mix64(key)
    if groups & (groups - 1) == 0:
        return z & (groups - 1)
    return (((z >> 1) & 0x7FFFFFFFFFFFFFFF) % groups * 2 + (z & 1)) % groups


def latency_bucket(value_ns):
    """Index of the log bucket that holds a latency; see `engine.telemetry.histogram`."""
    if value_ns < 128:
        return max(value_ns, 0)
    shift = 0
    v = value_ns >> 7
    while v >= 256:
        v >>= 8
        shift += 8
    while v > 0:
        v >>= 1
        shift += 1
    return 128 + (shift - 1) * 64 + ((value_ns >> shift) - 64)


def note_latency(histogram, latency_sums, x, delay_ns):
    """Count a delivery under row `x`: of a sink and a measure."""
    histogram[x, latency_bucket(delay_ns)] += 1
    latency_sums[x, 0] += 1
    latency_sums[x, 1] += delay_ns
    if delay_ns > latency_sums[x, 2]:
        latency_sums[x, 2] = delay_ns


def times(value, factor):
    """floor(value x factor / 2^16) where the product does not fit a word."""
    return (value >> 16) * factor + ((value & 0xFFFF) * factor >> 16)


def lasting(service, attainable):
    """How long a service of so much work takes where others steal time from it, ns: floor(service x 2^16 / attainable)."""
    return (service // attainable << 16) + (service % attainable << 16) // attainable


def work_left(left, attainable):
    """How much work is left of a service that goes on for so long, ns: ceil(left x attainable / 2^16)."""
    return (left >> 16) * attainable + ((left & 0xFFFF) * attainable + 0xFFFF >> 16)


def is_weighed(memory):
    """1 if anything follows from what some host holds."""
    weighed = 0
    for h in range(memory.shape[0]):
        if memory[h, Z_WATCHED] == 1:
            weighed = 1
    return weighed


@rare
def varied(cost_ps, par, at, inst, i, t):
    """The cost of an instance's next service, at `t`, with its state, warm-up, drift and noise (docs/event-core.md, 3.2)."""
    n = inst[i, I_SERVICES]
    inst[i, I_SERVICES] = n + 1
    if par[at + V_STATE] > 0:
        cost_ps += times(cost_ps, min((inst[i, I_STATE_BYTES] << 16) // par[at + V_STATE], STATE_MAX))
    left = par[at + V_RECORDS] - inst[i, I_IN] + inst[i, I_COLD]
    if left > 0:
        cost_ps += times(cost_ps, par[at + V_EXTRA] * left // par[at + V_RECORDS])
    left = par[at + V_SPAN] - t + inst[i, I_UP]
    if left > 0:
        cost_ps += times(cost_ps, par[at + V_EXTRA] * left // par[at + V_SPAN])
    if par[at + V_STEP] > 0:
        cost_ps = times(cost_ps, par[at + par[at + V_DRIFT] + t // par[at + V_STEP]])
    if par[at + V_NOISY] == 1:
        word = mix64((n + 1) * -7046029254386353131 + inst[i, I_NOISE])
        half = at + V_FACTORS
        if word < 0:
            half += NOISE_OCTAVES * NOISE_BINS + 1
        share = word & 0x7FFFFFFFFFFFFFFF
        octave = NOISE_OCTAVES - 1
        while share < 1 << 62 and octave > 0:
            share <<= 1
            octave -= 1
        if share < 1 << 62:
            share = 1 << 62
        edge = half + octave * NOISE_BINS + (share >> 56) - NOISE_BINS
        low = par[edge]
        cost_ps = times(cost_ps, low + ((par[edge + 1] - low) * ((share >> 40) & 0xFFFF) >> 16))
    return cost_ps


def copy_stamps(to, a, of, b, stamps):
    """Row `a` of a table takes over the stamps of row `b` of another (messages, stored rows or entries)."""
    for k in range(1, stamps + 1):
        to[a, to.shape[1] - k] = of[b, of.shape[1] - k]


def join_stamps(to, a, of, b, g, stamps, triggers):
    """The contributors of row `b` of a table count for row `a` of another, too. triggers: 1 if b's trigger becomes that of a."""
    for k in range(stamps):
        value = of[b, of.shape[1] - 1 - k]
        c = to.shape[1] - 1 - k
        if g[G_STAMP_ANCHOR + k] == M_NEWEST:
            to[a, c] = max(to[a, c], value)
        elif g[G_STAMP_ANCHOR + k] == M_OLDEST:
            to[a, c] = min(to[a, c], value)
        elif triggers == 1:
            to[a, c] = value


def room_of(world, h, slot):
    """Bytes of memory that a message which was sent takes in a queue of host `h`."""
    msg = world.msg
    room = 0
    if msg[slot, M_KIND] == RECORD:
        room = world.footprint[world.memory[h, Z_LAW], msg[slot, M_EDGE]]
    elif msg[slot, M_KIND] == WATERMARK or msg[slot, M_KIND] == BARRIER:
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
    elif msg[slot, M_KIND] == RECORD:
        port = 0
        if op[o, O_PORTS] > 1:
            port = msg[slot, M_EDGE]
        e = world.par[op[o, O_PORT_WIDTHS] + op[o, O_PORTS] + port]
        room = 0
        if e >= 0:
            room = world.footprint[world.memory[h, Z_LAW], e]
    return room


def pressure_at(memory, curve, h, used):
    """What `used` bytes make of costs on host `h`, in units of 2^-16 (docs/event-core.md, 13.1)."""
    first = memory[h, Z_CURVE]
    k = memory[h, Z_CURVE_END] - 1
    factor = NO_PRESSURE
    if k >= first:
        while k > first and curve[k, 0] > used:
            k -= 1
        factor = curve[k, 1]
        if k + 1 < memory[h, Z_CURVE_END] and used > curve[k, 0]:
            way = ((used - curve[k, 0]) << 16) // (curve[k + 1, 0] - curve[k, 0])
            factor += (curve[k + 1, 1] - factor) * way >> 16
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


def may_read(inst, log, held_back, i):
    """Whether instance `i` has a next row in its log that it may take once it is due; a host that is full holds back records only."""
    return inst[i, I_SOURCE] == 1 and inst[i, I_LOG] < inst[i, I_LOG_END] and not (held_back and log[inst[i, I_LOG], D_TRIGGER] >= 0)


def take_message(free, g):
    """A free message; the caller has checked that there is one."""
    g[G_FREE] -= 1
    return free[g[G_FREE]]


def free_message(free, g, slot):
    free[g[G_FREE]] = slot
    g[G_FREE] += 1


def discard(world, slot):
    """A message is no more. Those that may have a parcel are kept in a list until it is dropped, too."""
    msg = world.msg
    g = world.g
    if g[G_TRACING] == 1:
        world.notes[slot, N_ORIGIN] = -1
    if msg[slot, M_KIND] == CONTROL_MESSAGE:
        msg[slot, M_NEXT] = g[G_LOST]
        g[G_LOST] = slot
    else:
        free_message(world.free, g, slot)


def lose(world, slot):
    """A message that was sent will never be served."""
    msg = world.msg
    if msg[slot, M_KIND] == RECORD:
        world.inst[msg[slot, M_RECEIVER], I_LOST] += 1
    discard(world, slot)


def is_stale(world, slot):
    """Whether a message on a channel was sent in an epoch that is over for its receiver, or is a record that was served already
    (docs/checkpointing.md)."""
    msg = world.msg
    g = world.g
    stale = False
    channel = msg[slot, M_CHANNEL]
    if channel >= 0 and msg[slot, M_KIND] != CONTROL_MESSAGE:
        stale = msg[slot, M_EPOCH] // EPOCH < world.inst[msg[slot, M_RECEIVER], I_LIFE] // EPOCH
        if g[G_FILTER] == 1 and msg[slot, M_KIND] == RECORD:
            stale = stale or msg[slot, M_SEQUENCE] < world.carried[channel, V_PROCESSED]
    return stale


def add_output(msg, box, made):
    """Message `made` goes behind the outputs in `box`."""
    if box[0] < 0:
        box[0] = made
    else:
        msg[box[1], M_NEXT] = made
    box[1] = made


def turn_of(ready, of_class):
    """Ready time and class of an item in one word: of two items the one with the lesser word is served first."""
    return ready << 2 | of_class


def next_turn(inst, log, held_back, acting, i, t):
    """The turn of what instance `i` would serve next at `t`, FAR if there is nothing. acting: as in `admit`; a control message at the head
    of a source's queue comes before its log."""
    turn = inst[i, I_HEAD]
    reads = acting == 0 or turn & 3 < CLASS_LOCAL
    if reads and may_read(inst, log, held_back, i) and log[inst[i, I_LOG], D_APPEND] <= t:
        turn = min(turn, turn_of(log[inst[i, I_LOG], D_APPEND], CLASS_LOG))
    return turn


def new_output(msg, free, g, box, slot, stamps):
    """A message for one output, with the lineage of the message in `slot`, at the end of the outputs in `box`. The caller has checked for
    space."""
    made = take_message(free, g)
    msg[made, M_NEXT] = -1
    msg[made, M_KIND] = RECORD
    for c in range(M_EVENT, M_SEQUENCE):
        msg[made, c] = msg[slot, c]
    copy_stamps(msg, made, msg, slot, stamps)
    add_output(msg, box, made)
    return made


def keep_spare(free, g, box, wanted):
    """Lay `wanted` free messages aside for the hooks of a protocol; the caller has checked that there are as many."""
    while box[4] < wanted:
        box[SPARE + box[4]] = take_message(free, g)
        box[4] += 1


def new_control_message(msg, box, i, to, size):
    """For hooks that run in a service of instance `i`: a control message of `size` bytes to the address `to`, behind the outputs so far.

    It has no words yet; the hook writes msg[made, M_PAYLOAD + X_WORDS + n] and raises msg[made, M_PAYLOAD + X_COUNT]. A protocol says how
    many its hooks make in one service at most (`messages_max`).
    """
    box[4] -= 1
    made = box[SPARE + box[4]]
    for c in range(M_PAYLOAD + X_COLUMNS):
        msg[made, c] = 0
    msg[made, M_KIND] = CONTROL_MESSAGE
    msg[made, M_NEXT] = -1
    msg[made, M_CHANNEL] = -1
    msg[made, M_RECEIVER] = to
    msg[made, M_BYTES] = size
    msg[made, M_PAYLOAD + X_SENDER] = i
    msg[made, M_PAYLOAD + X_PARCEL] = -1
    add_output(msg, box, made)
    return made


def entry_hash(owner, key, pane_start):
    """Hash of an entry of keyed state; its bucket is the lowest bits."""
    return mix64(key ^ (owner * -7046029254386353131) ^ (pane_start * -8663945395140668459))


def entry_bucket(owner, key, pane_start, buckets):
    """Bucket of an entry of keyed state; `buckets` is a power of two."""
    return entry_hash(owner, key, pane_start) & (buckets - 1)


def find_entry(table, entry, owner, key, pane_start):
    """The entry of (owner, key, pane), -1 if there is none."""
    e = table[entry_bucket(owner, key, pane_start, table.shape[0])]
    while e >= 0 and not (entry[e, S_KEY] == key and entry[e, S_OWNER] == owner and entry[e, S_PANE] == pane_start):
        e = entry[e, S_NEXT]
    return e


def add_entry(table, entry, g, owner, key, pane_start):
    """A new entry; the caller has checked that none exists and that there is space. Values are zero."""
    e = g[G_ENTRY]
    if e >= 0:
        g[G_ENTRY] = entry[e, S_NEXT]
    else:
        e = g[G_ENTRY_FRESH]
        g[G_ENTRY_FRESH] = e + 1
    g[G_ENTRIES_FREE] -= 1
    g[G_ENTRIES_USED] += 1
    for c in range(entry.shape[1]):
        entry[e, c] = 0
    b = entry_bucket(owner, key, pane_start, table.shape[0])
    entry[e, S_NEXT] = table[b]
    table[b] = e
    entry[e, S_OWNER] = owner
    entry[e, S_KEY] = key
    entry[e, S_PANE] = pane_start
    entry[e, S_SIBLING] = -1
    return e


def free_entry(entry, g, e):
    """Put an entry that is in no bucket on the free list."""
    entry[e, S_NEXT] = g[G_ENTRY]
    entry[e, S_OWNER] = -1
    g[G_ENTRY] = e
    g[G_ENTRIES_FREE] += 1
    g[G_ENTRIES_USED] -= 1
    g[G_ENTRIES_FREED] += 1


def drop_entry(table, entry, g, e):
    """Take an entry out of its bucket and put it on the free list."""
    b = entry_bucket(entry[e, S_OWNER], entry[e, S_KEY], entry[e, S_PANE], table.shape[0])
    x = table[b]
    if x == e:
        table[b] = entry[e, S_NEXT]
    else:
        while entry[x, S_NEXT] != e:
            x = entry[x, S_NEXT]
        entry[x, S_NEXT] = entry[e, S_NEXT]
    free_entry(entry, g, e)


def take_row(row, g):
    """A free stored row, with none behind it; the caller has checked that there is one."""
    r = g[G_ROW]
    if r >= 0:
        g[G_ROW] = row[r, R_NEXT]
    else:
        r = g[G_ROW_FRESH]
        g[G_ROW_FRESH] = r + 1
        for c in range(row.shape[1]):
            row[r, c] = 0
    g[G_ROWS_FREE] -= 1
    row[r, R_NEXT] = -1
    return r


def free_row(row, g, r):
    free_rows(row, g, r, r, 1)


def free_rows(row, g, first, last, count):
    """So many stored rows, linked from the first to the last, are free again."""
    row[last, R_NEXT] = g[G_ROW]
    g[G_ROW] = first
    g[G_ROWS_FREE] += count


def free_rows_of(entry, row, g, e, first, sides):
    """Free the rows that an entry keeps, by side if there are two. first: column of the first row, of the first side."""
    for side in range(sides):
        at = first + side * S_SIDE
        count = entry[e, at - 1] if sides == 2 else entry[e, S_COUNT]
        r = entry[e, at]
        for _ in range(count):
            if r < 0:  # fewer are kept than were counted
                break
            after = row[r, R_NEXT]
            free_row(row, g, r)
            r = after


def free_pane(pane, g, x):
    pane[x, W_NEXT] = g[G_PANE]
    g[G_PANE] = x
    g[G_PANES_FREE] += 1


def drop_panes(pane, panes_of, g, at):
    """The panes of list `at` are free again, and it is empty."""
    x = panes_of[at]
    while x >= 0:
        after = pane[x, W_NEXT]
        free_pane(pane, g, x)
        x = after
    panes_of[at] = -1


def join_pane(pane, panes_of, g, inst, i, at, start, end, e, entry):
    """Append entry `e` to the open pane [start, end) of list `at` (sorted by start), opening the pane if need be."""
    previous = -1
    x = panes_of[at]
    while x >= 0 and pane[x, W_START] < start:
        previous = x
        x = pane[x, W_NEXT]
    if x < 0 or pane[x, W_START] != start:
        made = g[G_PANE]
        g[G_PANE] = pane[made, W_NEXT]
        g[G_PANES_FREE] -= 1
        pane[made, W_START] = start
        pane[made, W_END] = end
        pane[made, W_FIRST] = -1
        pane[made, W_LAST] = -1
        pane[made, W_COUNT] = 0
        pane[made, W_NEXT] = x
        if previous < 0:
            panes_of[at] = made
        else:
            pane[previous, W_NEXT] = made
        x = made
        if end < inst[i, I_PANE_END]:
            inst[i, I_PANE_END] = end
    if pane[x, W_FIRST] < 0:
        pane[x, W_FIRST] = e
    else:
        entry[pane[x, W_LAST], S_SIBLING] = e
    pane[x, W_LAST] = e
    pane[x, W_COUNT] += 1


def first_pane_end(pane, panes_of, first, count, above):
    """The least end greater than `above` of the panes in lists first .. first + count - 1, FAR if none."""
    least = FAR
    for at in range(first, first + count):
        x = panes_of[at]
        while x >= 0:
            if pane[x, W_END] > above:
                if pane[x, W_END] < least:
                    least = pane[x, W_END]
                break
            x = pane[x, W_NEXT]
    return least


def ring_before(time_a, tie_a, time_b, tie_b):
    return time_a < time_b or (time_a == time_b and tie_a < tie_b)


def ring_insert(ring, r, head, tail, time, tie, slot):
    """Put an item into ring `r` (sorted from head to tail), from the back: nearly always the last place."""
    mask = ring.shape[1] - 1
    at = tail
    while at > head:
        q = (at - 1) & mask
        if not ring_before(time, tie, ring[r, q, 0], ring[r, q, 1]):
            break
        p = at & mask
        ring[r, p, 0] = ring[r, q, 0]
        ring[r, p, 1] = ring[r, q, 1]
        ring[r, p, 2] = ring[r, q, 2]
        at -= 1
    p = at & mask
    ring[r, p, 0] = time
    ring[r, p, 1] = tie
    ring[r, p, 2] = slot


@rare
def ring_sort(ring, scratch, r, head, middle, tail):
    """Sort the tail [middle, tail) of ring `r` and merge it into the sorted part [head, middle)."""
    mask = ring.shape[1] - 1
    n = tail - middle
    if n <= 32:
        for at in range(middle, tail):
            p = at & mask
            ring_insert(ring, r, head, at, ring[r, p, 0], ring[r, p, 1], ring[r, p, 2])
        return
    # bottom-up merge sort of the tail between two halves of the scratch, then one merge from the back
    for k in range(n):
        p = (middle + k) & mask
        for c in range(3):
            scratch[0, k, c] = ring[r, p, c]
    side = 0
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            a = low
            a_end = min(low + width, n)
            b = a_end
            b_end = min(low + 2 * width, n)
            for k in range(low, b_end):
                take_b = a >= a_end or (
                    b < b_end and ring_before(scratch[side, b, 0], scratch[side, b, 1], scratch[side, a, 0], scratch[side, a, 1])
                )
                x = b if take_b else a
                for c in range(3):
                    scratch[1 - side, k, c] = scratch[side, x, c]
                if take_b:
                    b += 1
                else:
                    a += 1
        side = 1 - side
        width *= 2
    a = middle - 1
    b = n - 1
    at = tail - 1
    while b >= 0:
        p = at & mask
        q = a & mask
        if a >= head and ring_before(scratch[side, b, 0], scratch[side, b, 1], ring[r, q, 0], ring[r, q, 1]):
            for c in range(3):
                ring[r, p, c] = ring[r, q, c]
            a -= 1
        else:
            for c in range(3):
                ring[r, p, c] = scratch[side, b, c]
            b -= 1
        at -= 1


def heap_push(heap, base, size, key, who):
    """Put (key, who) into the heap of `size` items from row `base` on; least key first, then least who."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if heap[base + up, 0] < key or (heap[base + up, 0] == key and heap[base + up, 1] < who):
            break
        heap[base + at, 0] = heap[base + up, 0]
        heap[base + at, 1] = heap[base + up, 1]
        at = up
    heap[base + at, 0] = key
    heap[base + at, 1] = who


def heap_pop(heap, base, size):
    """Take the first item away; size: before."""
    end = size - 1
    key = heap[base + end, 0]
    who = heap[base + end, 1]
    at = 0
    down = 1
    while down < end:
        if down + 1 < end and (
            heap[base + down + 1, 0] < heap[base + down, 0]
            or (heap[base + down + 1, 0] == heap[base + down, 0] and heap[base + down + 1, 1] < heap[base + down, 1])
        ):
            down += 1
        if key < heap[base + down, 0] or (key == heap[base + down, 0] and who < heap[base + down, 1]):
            break
        heap[base + at, 0] = heap[base + down, 0]
        heap[base + at, 1] = heap[base + down, 1]
        at = down
        down = 2 * at + 1
    heap[base + at, 0] = key
    heap[base + at, 1] = who


def turn_before(turns, a, b):
    if turns[a, 0] != turns[b, 0]:
        return turns[a, 0] < turns[b, 0]
    return turns[a, 1] < turns[b, 1] or (turns[a, 1] == turns[b, 1] and turns[a, 2] < turns[b, 2])


def turn_swap(turns, a, b):
    for c in range(3):
        word = turns[a, c]
        turns[a, c] = turns[b, c]
        turns[b, c] = word


def turn_push(turns, base, size, rank, ready, who):
    """Put an instance into the heap of `size` turns from row `base` on: least rank first, then least ready time, then least who."""
    at = base + size
    turns[at, 0] = rank
    turns[at, 1] = ready
    turns[at, 2] = who
    while at > base:
        up = base + ((at - base - 1) >> 1)
        if not turn_before(turns, at, up):
            break
        turn_swap(turns, at, up)
        at = up


def turn_pop(turns, base, size):
    """Take the first turn away; size: before."""
    end = base + size - 1
    turn_swap(turns, base, end)
    at = base
    down = base + 1
    while down < end:
        if down + 1 < end and turn_before(turns, down + 1, down):
            down += 1
        if turn_before(turns, at, down):
            break
        turn_swap(turns, at, down)
        at = down
        down = base + 2 * (at - base) + 1


def look_at(world, h, i):
    """Thread `i` of host `h` may have something to serve."""
    host = world.host
    inst = world.inst
    if inst[i, I_LISTED] == 0:
        inst[i, I_LISTED] = 1
        world.listed[host[h, H_MEMBER] + host[h, H_LISTED]] = i
        host[h, H_LISTED] += 1


@rare
def empty_turns(world, h):
    """Nobody on host `h` stands in a heap of turns; those who did are looked at."""
    host = world.host
    inst = world.inst
    for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
        i = world.host_members[q]
        if inst[i, I_LISTED] == 2:
            inst[i, I_LISTED] = 0
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


def enqueue(world, weighing, acting, h, threads, i, slot):
    """A message joins those that wait for instance `i` of host `h`. weighing, acting: as in `admit`. threads: H_THREADS of the host."""
    inst = world.inst
    msg = world.msg
    memory = world.memory
    first = False
    if acting > 0:
        if msg[slot, M_KIND] == CONTROL_MESSAGE:
            first = inst[i, I_SOURCE] == 1 or msg[slot, M_TRIGGER] == URGENT
        elif msg[slot, M_KIND] == BARRIER:
            first = world.g[G_OVERTAKE] == 1
    if first:
        put_first(world, i, slot)
    elif acting > 0 and inst[i, I_QUEUE] < 0 and is_barred(world, i, slot):
        lay_aside(world, i, slot)
    else:
        if inst[i, I_QUEUE] < 0:
            inst[i, I_QUEUE] = slot
            inst[i, I_HEAD] = turn_of(msg[slot, M_READY], msg[slot, M_CLASS])
        else:
            msg[inst[i, I_QUEUE_LAST], M_NEXT] = slot
        inst[i, I_QUEUE_LAST] = slot
    inst[i, I_QUEUE_COUNT] += 1
    inst[i, I_QUEUE_BYTES] += msg[slot, M_BYTES]
    if weighing == 1:
        memory[h, Z_HELD] += room_of(world, h, slot)
        memory[h, Z_ITEMS] += world.op[inst[i, I_OP], O_WEIGHT]
    if threads > 0:
        look_at(world, h, i)


def admit(world, weighing, acting, heaps, h, limit):
    """Arrivals at times <= limit join their receivers' queues: by time, at equal times local ones first.

    weighing: 1 if what hosts hold is counted. acting: 1 if there may be control messages and barriers, 2 if also messages of
    epochs that are over. heaps: 1 if some hosts have heaps
    (H_THREADS).
    """
    rings = world.rings
    host = world.host
    msg = world.msg
    table = world.table
    threads = heaps * host[h, H_THREADS]
    mask = rings.shape[1] - 1
    local = host[h, H_LOCAL]
    local_end = host[h, H_LOCAL_TAIL]
    remote = host[h, H_REMOTE]
    remote_end = host[h, H_REMOTE_SORTED]
    local_ready = FAR
    if local < local_end:
        local_ready = rings[2 * h, local & mask, 0]
    remote_ready = FAR
    if remote < remote_end:
        remote_ready = rings[2 * h + 1, remote & mask, 0]
    while local_ready <= limit or remote_ready <= limit:
        if local_ready <= remote_ready:
            message = rings[2 * h, local & mask, 2]
            local += 1
            local_ready = FAR
            if local < local_end:
                local_ready = rings[2 * h, local & mask, 0]
        else:
            message = rings[2 * h + 1, remote & mask, 2]
            remote += 1
            remote_ready = FAR
            if remote < remote_end:
                remote_ready = rings[2 * h + 1, remote & mask, 0]
        if msg[message, M_HASH] != 0:
            e = table[msg[message, M_HASH] & (table.shape[0] - 1)]
            prefetch(world.entry, e, 0)
            prefetch(world.entry, e, 8)  # its second cache line
        if acting == 2 and is_stale(world, message):
            lose(world, message)
        else:
            enqueue(world, weighing, acting, h, threads, msg[message, M_RECEIVER], message)
    if local == local_end:  # an empty ring begins anew: the same places are in the cache, each ring's in another part of it
        local = h * 8
        host[h, H_LOCAL_TAIL] = local
    if remote == host[h, H_REMOTE_TAIL]:
        remote = h * 8
        host[h, H_REMOTE_SORTED] = remote
        host[h, H_REMOTE_TAIL] = remote
    host[h, H_LOCAL] = local
    host[h, H_REMOTE] = remote
