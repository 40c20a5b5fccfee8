"""How messages get from one host to another: kernels of the loop, and what is done to links between its calls (docs/event-core.md, 4.1)."""

from engine.core.compiler import compiled
from engine.core.kernels.rings import ring_insert, ring_sort
from engine.core.layout import *


def is_full(world, way, h2):
    """Whether there is no room in the inbox where a message to host `h2` goes first. way: as in `transmit`."""
    host = world.host
    inbox = h2
    if way < 0:
        inbox = world.link[-1 - way, LINK_INBOX]
    return host[inbox, H_REMOTE_TAIL] - host[inbox, H_REMOTE] == world.rings.shape[1]


def hand_over(world, h, arrival, tie, made):
    """Message `made` goes to an instance on the same host; the caller has checked that there is room."""
    host = world.host
    msg = world.msg
    msg[made, M_CLASS] = CLASS_LOCAL
    msg[made, M_READY] = arrival
    ring_insert(world.rings, 2 * h, host[h, H_LOCAL], host[h, H_LOCAL_TAIL], arrival, tie, made)
    host[h, H_LOCAL_TAIL] += 1


def begin(fifo, row, free, t):
    """When a FIFO link takes up what enters it at `t`. `free`: the column that says when it has passed all before."""
    begun = fifo[row, free]
    if begun < t:
        begun = t
    return begun


def leave(fifo, row, free, mbit, size, begun):
    """When a message of `size` bytes that is taken up at `begun` has left a FIFO link."""
    departure = begun + (size * 8000 + mbit - 1) // mbit
    fifo[row, free] = departure
    return departure


def note_way(world, noting, i, made, sent, begun, departure, arrival):
    """Keep the account of where a message's time goes on its way from instance `i` (docs/event-core.md, 11). noting: sum of NOTE_*."""
    msg = world.msg
    notes = world.notes
    if msg[made, M_KIND] == RECORD:
        world.inst[i, I_NETWORK] += arrival - sent
    if noting >= NOTE_LEFT:
        msg[made, noting // NOTE_LEFT] = departure
    if noting & NOTE_WAY > 0:
        notes[made, N_SENT] = sent
        notes[made, N_BEGUN] = begun
        notes[made, N_DEPARTED] = departure


def land(link, k, departure):
    """When a message arrives that has passed the FIFOs of link `k` at `departure`: never before one that was sent earlier."""
    arrival = departure + link[k, LINK_LATENCY]
    if arrival < link[k, LINK_ARRIVED]:
        arrival = link[k, LINK_ARRIVED]
    link[k, LINK_ARRIVED] = arrival
    return arrival


def drop_in(world, count, h, arrival, tie, made):
    """Put a message behind the others in the inbox of host `h`; returns how many inboxes hold something unsorted, `count` before."""
    rings = world.rings
    host = world.host
    tail = host[h, H_REMOTE_TAIL]
    if tail == host[h, H_REMOTE_SORTED]:
        world.touched[count] = h
        count += 1
    q = tail & (rings.shape[1] - 1)
    rings[2 * h + 1, q, RING_TIME] = arrival
    rings[2 * h + 1, q, RING_TIE] = tie
    rings[2 * h + 1, q, RING_MESSAGE] = made
    host[h, H_REMOTE_TAIL] = tail + 1
    return count


def transmit(world, noting, count, t, way, h, h2, size, i, tie, made, sent):
    """Message `made`, sent by instance `i` at `sent`, enters the network at `t`, from host `h` to host `h2` (docs/event-core.md, 4.1).

    noting: sum of NOTE_*. way: the latency between the two, or -1 - the row of their link. The caller has checked that there is room in the
    inbox where the message goes first. Returns how many inboxes hold something unsorted; `count`: before.
    """
    host = world.host
    link = world.link
    msg = world.msg
    inbox = h2
    if way >= 0:
        begun = begin(host, h, H_LINK_FREE, t)
        departure = leave(host, h, H_LINK_FREE, host[h, H_MBIT], size, begun)
        arrival = departure + way
    else:
        k = -1 - way
        if link[k, LINK_UP] > t:  # it waits behind those that wait already
            inbox = -1
            msg[made, M_READY] = tie
            msg[made, M_CLASS] = sent
            if link[k, LINK_HELD] < 0:
                link[k, LINK_HELD] = made
            else:
                msg[link[k, LINK_HELD_LAST], M_NEXT] = made
            link[k, LINK_HELD_LAST] = made
            link[k, LINK_HELD_COUNT] += 1
        else:
            if link[k, LINK_MBIT] > 0:
                begun = begin(link, k, LINK_FREE, t)
                departure = leave(link, k, LINK_FREE, link[k, LINK_MBIT], size, begun)
            else:
                begun = begin(host, h, H_LINK_FREE, t)
                departure = leave(host, h, H_LINK_FREE, host[h, H_MBIT], size, begun)
            link[k, LINK_BYTES] += size
            inbox = link[k, LINK_INBOX]
            arrival = departure
            if inbox == h2:  # otherwise it enters a trunk now
                arrival = land(link, k, departure)
    if inbox >= 0:
        host[h, H_SENT_BYTES] += size
        msg[made, M_CLASS] = CLASS_REMOTE
        msg[made, M_READY] = arrival
        note_way(world, noting, i, made, sent, begun, departure, arrival)
        count = drop_in(world, count, inbox, arrival, tie, made)
    return count


def send_control(world, noting, count, t, h, h2, i, tie, made):
    """Control message `made` of participant `i` is sent at `t` from host `h` to host `h2`; as `transmit`."""
    return transmit(world, noting, count, t, world.latency[h, h2], h, h2, world.msg[made, M_BYTES], i, tie, made, t)


def credit_back(link, way, t):
    """When a credit that is given back at `t` is with its sender, FAR if it never gets there. way: as in `transmit`."""
    back = t + way
    if way < 0:
        back = min(max(t, link[-1 - way, LINK_UP]) + link[-1 - way, LINK_LATENCY], FAR)
    return back


def pass_trunk(world, count, h, h2, t, tie, made):
    """Message `made` enters trunk `h` at `t` on its way to host `h2`. Returns how many inboxes hold something unsorted; `count`: before."""
    host = world.host
    msg = world.msg
    inst = world.inst
    notes = world.notes
    i = tie >> 40
    k = -1 - world.latency[inst[i, I_HOST], h2]
    begun = begin(host, h, H_LINK_FREE, t)
    departure = leave(host, h, H_LINK_FREE, host[h, H_MBIT], msg[made, M_BYTES], begun)
    host[h, H_SENT_BYTES] += msg[made, M_BYTES]
    arrival = land(world.link, k, departure)
    msg[made, M_READY] = arrival
    if msg[made, M_KIND] == RECORD:
        inst[i, I_NETWORK] += arrival - t
    if world.g[G_TRACING] == 1:  # what it waited for the trunk counts as if it had waited before the first transmission
        notes[made, N_BEGUN] += begun - t
        notes[made, N_DEPARTED] = departure
    return drop_in(world, count, h2, arrival, tie, made)


def settle(world, h):
    """What was put into the inbox of host `h` becomes visible, in order."""
    rings = world.rings
    host = world.host
    next_ns = world.next_ns
    tail = host[h, H_REMOTE_TAIL]
    for at in range(host[h, H_REMOTE_SORTED], tail):
        q = at & (rings.shape[1] - 1)
        if rings[2 * h + 1, q, RING_TIME] < next_ns[h]:
            next_ns[h] = rings[2 * h + 1, q, RING_TIME]
    ring_sort(rings, world.scratch, 2 * h + 1, host[h, H_REMOTE], host[h, H_REMOTE_SORTED], tail)
    host[h, H_REMOTE_SORTED] = tail


def to_note(g):
    """What is to be noted of messages in this run: sum of NOTE_*."""
    return g[G_TRACING] * NOTE_WAY + g[G_LEFT] * NOTE_LEFT


@compiled
def post(world, made, h, h2, i, tie, t):
    """Message `made` of participant `i` leaves host `h` for host `h2` at `t`, between two windows. The caller has checked for room."""
    count = send_control(world, to_note(world.g), 0, t, h, h2, i, tie, made)
    if count > 0:
        settle(world, world.touched[0])
    return count


@compiled
def release(world, k, t):
    """What waits for link `k` enters it at `t`, in order. Returns 1 if it stopped at a full inbox: call again with larger ones; else 0."""
    link = world.link
    msg = world.msg
    noting = to_note(world.g)
    h = link[k, LINK_SOURCE]
    h2 = link[k, LINK_TARGET]
    way = -1 - k
    full = 0
    count = 0
    made = link[k, LINK_HELD]
    while made >= 0:
        if is_full(world, way, h2):
            full = 1
            break
        after = msg[made, M_NEXT]
        msg[made, M_NEXT] = -1
        tie = msg[made, M_READY]
        sent = msg[made, M_CLASS]
        size = msg[made, M_BYTES]
        i = tie >> 40
        count = transmit(world, noting, count, t, way, h, h2, size, i, tie, made, sent)
        link[k, LINK_HELD] = after
        link[k, LINK_HELD_COUNT] -= 1
        made = after
    if made < 0:
        link[k, LINK_HELD_LAST] = -1
    if count > 0:
        settle(world, link[k, LINK_INBOX])
    return full
