"""The service trace: how a row is written, and how rows are read (docs/event-core.md, 11).

A row is one cache line, since memory touched for the first time is what tracing costs: times in words, spans in half words (the table
`halves` is the same memory). Where a span takes more than half a word, or a number more than its bits, a second row holds all of them in
full: minus the number and 1 in place of a start, then the spans. Where the item waited for barriers, one more row says how long. Other
services are named by how many rows back they stand.
"""

from engine.core.compiler import compiled
from engine.core.layout import *

PROBLEMS = NO_DELIVERY, BEGINS_TOO_LATE, NAMES_NO_RECORD, WRONG_BEGIN = 1, 2, 3, 4
PATH_PARTS = 16  # most parts that a path has from one service to the one before


def rows_back(g, number):
    """How many rows before the next one to be written stands the row of that number, 0 if it is not held."""
    back = 0
    if number >= g[G_TRACE_BASE]:
        back = g[G_TRACE] + g[G_TRACE_BASE] - number
    return back


def note_service(world, i, t, end, trigger, kind, of_class, channel, slot, ready, service, origin, aligned, released):
    """A service of instance `i` begins at `t`. slot: message served, where `channel` >= 0. origin: start of the sender's service that took
    in what the message counts from, or -1. aligned: how long it waited for barriers, up to `released`. The caller has checked that there is
    room for `TRACE_LINES` rows."""
    trace = world.trace
    halves = world.halves
    notes = world.notes
    behind = world.behind
    g = world.g
    item = kind | of_class << ITEM_CLASS
    number = i
    parent = 0
    latency = 0
    transmission = 0
    network_wait = 0
    since_origin = 0
    if channel >= 0:
        item |= ITEM_BY_CHANNEL
        number = channel
        parent = rows_back(g, notes[slot, N_PARENT])
        latency = ready - notes[slot, N_DEPARTED]
        transmission = notes[slot, N_DEPARTED] - notes[slot, N_BEGUN]
        network_wait = notes[slot, N_BEGUN] - notes[slot, N_SENT]
        if origin >= 0:
            since_origin = t - origin
    waited = t - ready
    idle = t - behind[i, B_IDLE]
    n = g[G_TRACE]
    rows = 1
    if number >= ITEM_NUMBERS or (waited | latency | transmission | network_wait | idle | service | since_origin) >> 32 != 0:
        rows = 2
        item |= ITEM_WIDE
        trace[n + 1, T_START] = -1 - number
        trace[n + 1, F_WAITED - SECOND] = waited
        trace[n + 1, F_LATENCY - SECOND] = latency
        trace[n + 1, F_TRANSMISSION - SECOND] = transmission
        trace[n + 1, F_NETWORK_WAIT - SECOND] = network_wait
        trace[n + 1, F_IDLE - SECOND] = idle
        trace[n + 1, F_SERVICE - SECOND] = service
        trace[n + 1, F_ORIGIN - SECOND] = since_origin
    if aligned > 0:
        item |= ITEM_ALIGNED
        trace[n + rows, T_START] = -1
        trace[n + rows, T_RELEASED] = t - released
        trace[n + rows, T_ALIGNED] = aligned
        rows += 1
    trace[n, T_START] = t
    trace[n, T_END] = end
    trace[n, T_TRIGGER] = trigger
    halves[n, F_ITEM] = item | number << ITEM_NUMBER
    halves[n, F_PARENT] = parent
    halves[n, F_PREVIOUS] = rows_back(g, behind[i, B_ROW])
    halves[n, F_WAITED] = waited
    halves[n, F_LATENCY] = latency
    halves[n, F_TRANSMISSION] = transmission
    halves[n, F_NETWORK_WAIT] = network_wait
    halves[n, F_IDLE] = idle
    halves[n, F_SERVICE] = service
    halves[n, F_ORIGIN] = since_origin
    behind[i, B_ROW] = n + g[G_TRACE_BASE]
    g[G_TRACE] = n + rows


def shorten(trace, halves, n, now, left):
    """The service of row `n` ends at `now` with so much of its work left, ns."""
    trace[n, T_END] = now
    halves[n, F_SERVICE] -= left
    if halves[n, F_ITEM] & ITEM_WIDE > 0:
        trace[n + 1, F_SERVICE - SECOND] -= left


def span(trace, halves, n, field):
    """One of the spans of row `n`, ns: F_WAITED to F_ORIGIN."""
    value = halves[n, field]
    if halves[n, F_ITEM] & ITEM_WIDE > 0:
        value = trace[n + 1, field - SECOND]
    return value


def instance_of(trace, halves, receivers, n):
    """Whose service row `n` is. receivers: instance by channel."""
    item = halves[n, F_ITEM]
    number = item >> ITEM_NUMBER
    if item & ITEM_WIDE > 0:
        number = -1 - trace[n + 1, T_START]
    if item & ITEM_BY_CHANNEL > 0:
        number = receivers[number]
    return number


def row_before(halves, n, field):
    """The row that row `n` names as its parent (F_PARENT) or as its instance's service before (F_PREVIOUS), -1 if it is not held."""
    back = halves[n, field]
    before = n - back
    if back == 0 or before < 0:
        before = -1
    return before


def idle_ns(trace, halves, n, from_ns):
    """How long the instance of service `n` was idle between from_ns and the start of that service: in no service, with nothing to send.

    The trace holds the instance's services since from_ns.
    """
    total = 0
    while n >= 0 and trace[n, T_START] > from_ns:
        total += max(trace[n, T_START] - max(trace[n, T_START] - span(trace, halves, n, F_IDLE), from_ns), 0)
        n = row_before(halves, n, F_PREVIOUS)
    return total


def service_from(trace, halves, n, start_ns):
    """The service that the instance of service `n` began at start_ns, before it; -1 if it is not held."""
    while n >= 0 and trace[n, T_START] > start_ns:
        n = row_before(halves, n, F_PREVIOUS)
    if n >= 0 and trace[n, T_START] < start_ns:
        n = -1
    return n


def begun_by(trace, end_ns):
    """A row near the last service that began at end_ns or before; rows are nearly in order of their starts."""
    low = 0
    high = trace.shape[0]
    while low < high:
        middle = (low + high) >> 1
        n = middle
        while trace[n, T_START] < 0:
            n -= 1
        if trace[n, T_START] <= end_ns:
            low = middle + 1
        else:
            high = middle
    return low


def ends_there(trace, halves, receivers, n, end_ns, i):
    """Whether row `n` is a service of instance `i` that ends at end_ns."""
    found = 0
    if trace[n, T_END] == end_ns and trace[n, T_START] >= 0 and instance_of(trace, halves, receivers, n) == i:
        found = 1
    return found


@compiled
def find_near(trace, halves, receivers, places, found, most):
    """Which services ended at these places: (k, 2) time and instance, into `found` (k,): their rows, -1 if it is none of the `most` rows on
    either side of where it should be. Returns how many are not found."""
    missing = 0
    for k in range(places.shape[0]):
        found[k] = -1
        middle = begun_by(trace, places[k, 0])
        for away in range(most):
            before = middle - 1 - away
            after = middle + away
            if before < 0 and after >= trace.shape[0]:
                break
            if before >= 0 and ends_there(trace, halves, receivers, before, places[k, 0], places[k, 1]) == 1:
                found[k] = before
                break
            if after < trace.shape[0] and ends_there(trace, halves, receivers, after, places[k, 0], places[k, 1]) == 1:
                found[k] = after
                break
        if found[k] < 0:
            missing += 1
    return missing


@compiled
def find_all(trace, halves, receivers, places, found):
    """The same from all rows. places: ascending. found: what is not there is left as it is."""
    count = places.shape[0]
    for n in range(trace.shape[0]):
        end = trace[n, T_END]
        low = 0
        high = count
        while low < high:
            middle = (low + high) >> 1
            if places[middle, 0] < end:
                low = middle + 1
            else:
                high = middle
        while low < count and places[low, 0] == end:
            if ends_there(trace, halves, receivers, n, end, places[low, 1]) == 1:
                found[low] = n
            low += 1
    return 0


def alignment_row(halves, n):
    """The row that says how long the item of service `n` waited for barriers, -1 if it did not."""
    item = halves[n, F_ITEM]
    row = -1
    if item & ITEM_ALIGNED > 0:
        row = n + 1
        if item & ITEM_WIDE > 0:
            row = n + 2
    return row


def add_part(path, m, part, i, start, end):
    """A part of a path in front of those so far, if it takes any time; how many there are then."""
    if start != end:
        path[m, 0] = part
        path[m, 1] = i
        path[m, 2] = start
        path[m, 3] = end
        m += 1
    return m


def add_service(trace, halves, path, m, n, i):
    """From the end of service `n`, of instance `i`, back to its start."""
    start = trace[n, T_START]
    worked = start + span(trace, halves, n, F_SERVICE)
    m = add_part(path, m, PART_STOLEN, i, worked, trace[n, T_END])
    return add_part(path, m, PART_SERVICE, i, start, worked)


def add_wait(path, m, i, start, end, idle):
    """From the end of a wait back to its start: of it the instance was idle for so long."""
    m = add_part(path, m, PART_SCHEDULING, i, end - idle, end)
    return add_part(path, m, PART_QUEUEING, i, start, end - idle)


@compiled
def walk_back(trace, halves, receivers, begins, clock, first, found, records, path, outcome):
    """Where the time of delivered records went, walked back from their deliveries: their parts, latest first, one path behind the other.

    receivers: instance by channel. begins: by instance, 1 if ingestion begins with its services. clock: CLOCK_* that latency is measured
    from. first: number of the first record to look at.
    found: (k,) rows of their deliveries. records: (k, 3) trigger, end and latency. path: (m, 4) part, instance, start, end.
    outcome: (k, 4) where in `path` the record's parts end; 0 or one of `PROBLEMS`, then the instance where it arose, and a time: the start
    of the service before which nothing is known, when that was sent of which the record is not known, or when the path begins.
    Returns the number of records before the first for which `path` is too short.
    """
    m = 0
    if first > 0:
        m = outcome[first - 1, 0]
    for k in range(first, records.shape[0]):
        n = found[k]
        problem = 0
        i = -1
        time = 0
        if n < 0 or trace[n, T_TRIGGER] != records[k, 0]:
            problem = NO_DELIVERY
        else:
            i = instance_of(trace, halves, receivers, n)
            if m + PATH_PARTS > path.shape[0]:
                return k
            m = add_service(trace, halves, path, m, n, i)
            while halves[n, F_ITEM] & ITEM_BY_CHANNEL > 0 and (clock != CLOCK_INGEST or begins[i] == 0):
                fired = row_before(halves, n, F_PARENT)
                if fired < 0:
                    problem = BEGINS_TOO_LATE
                    time = trace[n, T_START]
                    break
                if m + PATH_PARTS > path.shape[0]:
                    return k
                start = trace[n, T_START]
                ready = start - span(trace, halves, n, F_WAITED)
                departed = ready - span(trace, halves, n, F_LATENCY)
                begun = departed - span(trace, halves, n, F_TRANSMISSION)
                sent = begun - span(trace, halves, n, F_NETWORK_WAIT)
                since_origin = span(trace, halves, n, F_ORIGIN)
                barred = ready
                released = ready
                x = alignment_row(halves, n)
                if x >= 0:
                    released = start - trace[x, T_RELEASED]
                    barred = released - trace[x, T_ALIGNED]
                m = add_wait(path, m, i, released, start, idle_ns(trace, halves, n, released))
                m = add_part(path, m, PART_ALIGNMENT, i, barred, released)
                m = add_wait(path, m, i, ready, barred, idle_ns(trace, halves, n, ready) - idle_ns(trace, halves, n, barred))
                i = instance_of(trace, halves, receivers, fired)
                m = add_part(path, m, PART_NETWORK_LATENCY, i, departed, ready)
                m = add_part(path, m, PART_TRANSMISSION, i, begun, departed)
                m = add_part(path, m, PART_NETWORK_WAIT, i, sent, begun)
                m = add_part(path, m, PART_BLOCKED, i, trace[fired, T_END], sent)
                m = add_service(trace, halves, path, m, fired, i)
                n = fired
                if since_origin == 0 or start - since_origin == trace[fired, T_START]:
                    if halves[fired, F_ITEM] & ITEM_KIND != RECORD:
                        problem = NAMES_NO_RECORD
                        time = sent
                        break
                else:
                    n = service_from(trace, halves, fired, start - since_origin)
                    if n < 0:
                        problem = BEGINS_TOO_LATE
                        time = trace[fired, T_START]
                        break
                    m = add_part(path, m, PART_WINDOW_WAIT, i, trace[n, T_END], trace[fired, T_START])
                    m = add_service(trace, halves, path, m, n, i)
            if problem == 0:
                begin = trace[n, T_START]
                appended = begin - span(trace, halves, n, F_WAITED)
                from_ns = records[k, 1] - records[k, 2]
                if clock != CLOCK_INGEST:
                    m = add_part(path, m, PART_DRIVER_QUEUE, i, appended, begin)
                    begin = appended
                if clock == CLOCK_EVENT:
                    m = add_part(path, m, PART_EVENT_DELAY, i, from_ns, appended)
                    begin = from_ns
                if begin != from_ns:
                    problem = WRONG_BEGIN
                    time = begin
        outcome[k, 0] = m
        outcome[k, 1] = problem
        outcome[k, 2] = i
        outcome[k, 3] = time
    return records.shape[0]
