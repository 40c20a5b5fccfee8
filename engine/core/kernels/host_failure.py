"""What is lost with a host, and what is made anew when it comes back: kernels (docs/event-core.md, section 10)."""

from engine.core.compiler import compiled
from engine.core.kernels.alignment import let_in
from engine.core.kernels.epochs import forget_epochs
from engine.core.kernels.memory import pressure_at
from engine.core.kernels.messages import discard, lose
from engine.core.kernels.service_cost import work_left
from engine.core.kernels.service_trace import shorten
from engine.core.kernels.state_table import drop_panes, free_entry, free_row, free_rows_of
from engine.core.kernels.transmission import credit_back
from engine.core.layout import *

# -- messages --------------------------------------------------------------------------------------------------------------


def lose_all(world, slot):
    """The messages of the list that begins with `slot` will never be served."""
    while slot >= 0:
        after = world.msg[slot, M_NEXT]
        lose(world, slot)
        slot = after


def lose_held(world, k):
    """What waits for link `k` is lost."""
    link = world.link
    lose_all(world, link[k, LINK_HELD])
    link[k, LINK_HELD] = -1
    link[k, LINK_HELD_LAST] = -1
    link[k, LINK_HELD_COUNT] = 0


def lose_arrivals(world, h, limit):
    """What comes to host `h`, which is down, at times <= limit is lost."""
    rings = world.rings
    host = world.host
    next_ns = world.next_ns
    mask = rings.shape[1] - 1
    head = host[h, H_REMOTE]
    end = host[h, H_REMOTE_SORTED]
    while head < end and rings[2 * h + 1, head & mask, RING_TIME] <= limit:
        lose(world, rings[2 * h + 1, head & mask, RING_MESSAGE])
        head += 1
    host[h, H_REMOTE] = head
    next_ns[h] = FAR
    if head < end:
        next_ns[h] = rings[2 * h + 1, head & mask, RING_TIME]


def lose_from_inbox(world, x, h, receives, now):
    """Of what is under way to host, trunk or actor `x`, what instances of host `h` are to receive (receives: 1) is lost, or what they have
    sent and what has not left `h` at `now`."""
    rings = world.rings
    host = world.host
    next_ns = world.next_ns
    msg = world.msg
    inst = world.inst
    g = world.g
    mask = rings.shape[1] - 1
    end = host[x, H_REMOTE_TAIL]
    kept = host[x, H_REMOTE]
    machine = inst.shape[0] + next_ns.shape[0] - g[G_ACTORS] + h  # the address of its process
    for at in range(kept, end):
        slot = rings[2 * x + 1, at & mask, RING_MESSAGE]
        i = msg[slot, M_RECEIVER] if receives == 1 else rings[2 * x + 1, at & mask, RING_TIE] >> 40
        here = i == machine
        if i < inst.shape[0]:
            here = inst[i, I_HOST] == h
        if here and (receives == 1 or msg[slot, g[G_LEFT]] > now):
            lose(world, slot)
        else:
            for c in range(3):
                rings[2 * x + 1, kept & mask, c] = rings[2 * x + 1, at & mask, c]
            kept += 1
    if kept == end:
        return
    host[x, H_REMOTE_SORTED] = kept
    host[x, H_REMOTE_TAIL] = kept
    if x < g[G_MACHINES]:  # it has to be looked at again
        next_ns[x] = min(next_ns[x], now + 1)
    elif x < g[G_ACTORS]:  # an actor finds out by itself
        next_ns[x] = FAR
        if host[x, H_REMOTE] < kept:
            next_ns[x] = rings[2 * x + 1, host[x, H_REMOTE] & mask, RING_TIME]


@compiled
def lose_unsent(world, h, now):
    """What instances of host `h` have sent and what has not left it at `now` is lost; what has come to it by then is, too."""
    host = world.host
    link = world.link
    host[h, H_LINK_FREE] = min(host[h, H_LINK_FREE], now)
    for k in range(link.shape[0]):
        if link[k, LINK_SOURCE] == h:
            link[k, LINK_FREE] = min(link[k, LINK_FREE], now)
            lose_held(world, k)
    for x in range(world.next_ns.shape[0]):
        lose_from_inbox(world, x, h, 0, now)
    lose_arrivals(world, h, now)
    return 0


@compiled
def lose_incoming(world, h):
    """What is under way to host `h` is lost."""
    link = world.link
    lose_arrivals(world, h, FAR)
    for x in range(world.g[G_MACHINES], world.g[G_ACTORS]):
        lose_from_inbox(world, x, h, 1, FAR)
    for k in range(link.shape[0]):
        if link[k, LINK_TARGET] == h:
            link[k, LINK_ARRIVED] = 0
            lose_held(world, k)
    return 0


@compiled
def recall_arrivals(world, h):
    """Of the links from host `h`: what is still under way when it comes back is not overtaken."""
    rings = world.rings
    host = world.host
    link = world.link
    latency = world.latency
    inst = world.inst
    mask = rings.shape[1] - 1
    for k in range(link.shape[0]):
        if link[k, LINK_SOURCE] == h:
            link[k, LINK_ARRIVED] = 0
    for x in range(world.g[G_MACHINES]):
        if latency[h, x] < 0:
            k = -1 - latency[h, x]
            for at in range(host[x, H_REMOTE], host[x, H_REMOTE_TAIL]):
                sender = rings[2 * x + 1, at & mask, RING_TIE] >> 40
                if sender < inst.shape[0] and inst[sender, I_HOST] == h:
                    link[k, LINK_ARRIVED] = max(link[k, LINK_ARRIVED], rings[2 * x + 1, at & mask, RING_TIME])
    return 0


# -- what is in the memory of a host --------------------------------------------------------------------------------------------


@compiled
def lose_memory(world, h, now):
    """Services in progress, emissions, queues and hand-overs of host `h` are lost; its instances are as they were at first, but down."""
    rings = world.rings
    host = world.host
    proc = world.proc
    tags = world.tags
    msg = world.msg
    inst = world.inst
    op = world.op
    op_edges = world.op_edges
    edge = world.edge
    chan = world.chan
    sharing = host[h, H_SHARING]
    worked = host[h, H_RATE] * max(now - host[h, H_WORK_AT], 0)
    for n in range(host[h, H_RUNNING]):
        i = tags[host[h, H_MEMBER] + n, DUE_WHO]
        p = inst[i, I_PROCESSOR]
        left = (tags[host[h, H_MEMBER] + n, DUE_KEY] - host[h, H_WORK] - worked + UNIT - 1) // UNIT
        stolen = now - proc[p, P_START] - proc[p, P_SERVICE] + left
        stop_service(world, i, now, left, stolen)
    for p in range(host[h, H_PROCESSOR], host[h, H_PROCESSOR_END]):
        i = proc[p, P_INSTANCE]
        if i >= 0:
            if sharing == 0:
                paused = max(host[h, H_PAUSED] - now, 0)
                lasts = proc[p, P_END] - paused - now
                left = work_left(lasts, op[inst[i, I_OP], O_ATTAINABLE])
                stop_service(world, i, now, left, left - lasts - paused)
            if proc[p, P_SLOT] >= 0:  # a sink would have delivered it
                if msg[proc[p, P_SLOT], M_KIND] == RECORD:
                    inst[i, I_UNSENT] += 1
                discard(world, proc[p, P_SLOT])
                proc[p, P_SLOT] = -1
        proc[p, P_INSTANCE] = -1
        proc[p, P_END] = FAR
        proc[p, P_TURNS] = 0
    if host[h, H_BACKGROUND_END] < FAR:
        host[h, H_BACKGROUND_NS] -= host[h, H_BACKGROUND_END] - max(host[h, H_PAUSED] - now, 0) - now
    host[h, H_BACKGROUND_END] = FAR
    host[h, H_BACKGROUND_PS] = 0
    host[h, H_QUOTA_LEFT] -= worked * host[h, H_RUNNING]
    host[h, H_WORK_AT] = now
    host[h, H_WORK] = 0
    host[h, H_RATE] = 0
    host[h, H_RUNNING] = 0
    host[h, H_AGENDA] = 0
    if host[h, H_DISPATCH] == DISPATCH_TURN_HEAP:
        host[h, H_IDLE] = host[h, H_PROCESSOR_END] - host[h, H_PROCESSOR]
    host[h, H_LISTED] = 0
    host[h, H_RESUME] = FAR
    host[h, H_WAKE] = FAR
    host[h, H_TICK] = FAR
    mask = rings.shape[1] - 1
    for at in range(host[h, H_LOCAL], host[h, H_LOCAL_TAIL]):
        lose(world, rings[2 * h, at & mask, RING_MESSAGE])
    host[h, H_LOCAL] = host[h, H_LOCAL_TAIL]
    memory = world.memory
    memory[h, Z_HELD] = 0
    memory[h, Z_ITEMS] = 0
    memory[h, Z_STATE] = 0
    memory[h, Z_FULL] = 0
    if memory[h, Z_MODELLED] == 1:
        memory[h, Z_USED] = memory[h, Z_BASE]
        memory[h, Z_PRESSURE] = pressure_at(memory, world.curve, h, memory[h, Z_BASE])
    for i in range(inst.shape[0]):
        if inst[i, I_HOST] != h:
            continue
        world.tally[i, Y_STATE] = 0
        o = inst[i, I_OP]
        x = inst[i, I_EDGE]
        sent = inst[i, I_RECEIVER]
        slot = inst[i, I_OUT]
        while slot >= 0:
            after = msg[slot, M_NEXT]
            if msg[slot, M_KIND] == RECORD or msg[slot, M_KIND] == PENDING:
                count = 1
                if msg[slot, M_KIND] == PENDING:
                    count = msg[slot, PENDING_LEFT]
                while x < op[o, O_EDGE_END]:
                    e = op_edges[x]
                    if op[o, O_PORTS] == 1 or msg[slot, M_EDGE] == edge[e, E_OUTPUT]:
                        copies = 1
                        if edge[e, E_KIND] == BROADCAST:
                            copies = op[edge[e, E_TARGET], O_PARALLEL] - sent
                        inst[i, I_UNSENT] += copies * count
                    sent = 0
                    x += 1
            x = op[o, O_EDGE]
            sent = 0
            discard(world, slot)
            slot = after
        lose_all(world, let_in(world, i, inst[i, I_QUEUE]))
        if inst[i, I_BLOCKED_SINCE] >= 0:
            inst[i, I_BLOCKED] += now - inst[i, I_BLOCKED_SINCE]
        inst[i, I_STATUS] = DOWN
        inst[i, I_QUEUE] = -1
        inst[i, I_HEAD] = FAR
        inst[i, I_QUEUE_LAST] = -1
        inst[i, I_QUEUE_COUNT] = 0
        inst[i, I_QUEUE_BYTES] = 0
        inst[i, I_OUT] = -1
        inst[i, I_EDGE] = 0
        inst[i, I_RECEIVER] = 0
        inst[i, I_BLOCKED_SINCE] = -1
        inst[i, I_WAKE] = FAR
        inst[i, I_TICK] = FAR
        inst[i, I_LISTED] = LISTED_NO
        inst[i, I_AWAITS] = 0
        inst[i, I_WATERMARK] = -FAR
        inst[i, I_NEWEST_EVENT] = -FAR
        inst[i, I_COLD] = inst[i, I_IN]
        inst[i, I_INCARNATION] += 1
        if world.g[G_EPOCHS] > 0:
            forget_epochs(world, i)
    for c in range(chan.shape[0]):
        if inst[chan[c, C_SENDER], I_HOST] == h:
            chan[c, C_TURN] = 0
            chan[c, C_WAITING] = 0
            # those under way are forgotten: how far the other hosts have got must leave no trace
            give_credits(world, c, 0)
        if inst[chan[c, C_RECEIVER], I_HOST] == h:
            chan[c, C_WATERMARK] = -FAR
            i = chan[c, C_SENDER]
            index = inst[i, I_INDEX] - op[inst[i, I_OP], O_BEGIN]
            if index < 0 or index >= op[inst[i, I_OP], O_PARALLEL]:  # it is not active, and holds nobody back
                chan[c, C_WATERMARK] = FAR
    return 0


def give_credits(world, c, back):
    """All credits of channel `c` are with its sender at `back`."""
    chan = world.chan
    edge = world.edge
    e = chan[c, C_EDGE]
    bound = edge[e, E_BOUND]
    if bound > 0:
        chan[c, C_CONSUMED] = world.carried[c, SEQ_SENT]
        first = edge[e, E_CREDIT] + (c - edge[e, E_CHANNEL]) * bound
        for k in range(first, first + bound):
            world.credit[k] = back


def stop_service(world, i, now, left, stolen):
    """The service of instance `i` ends with so much work left, ns; stolen: what is added to its stolen time."""
    inst = world.inst
    behind = world.behind
    g = world.g
    inst[i, I_BUSY] -= left
    inst[i, I_STOLEN] += stolen
    if inst[i, I_KIND] != RECORD:
        inst[i, I_CONTROL_NS] -= left
    if g[G_TRACING] == 1 and behind[i, B_ROW] >= g[G_TRACE_BASE]:
        shorten(world.trace, world.halves, behind[i, B_ROW] - g[G_TRACE_BASE], now, left)


@compiled
def lose_state(world, h):
    """The operator state of the instances of host `h` is lost: entries, stored rows, panes."""
    inst = world.inst
    op = world.op
    table = world.table
    entry = world.entry
    row = world.row
    pane = world.pane
    panes_of = world.panes_of
    g = world.g
    for i in range(inst.shape[0]):
        if inst[i, I_HOST] != h:
            continue
        o = inst[i, I_OP]
        link = op[o, O_LISTS_LINK]
        first = op[o, O_LISTS] + inst[i, I_INDEX] * op[o, O_LISTS_EACH]
        for at in range(first, first + op[o, O_LISTS_EACH]):
            if link == 0:
                drop_panes(pane, panes_of, g, at)
            elif link > 0 and at == first:
                x = panes_of[at]
                while x >= 0:
                    after = row[x, link]
                    free_row(row, g, x)
                    x = after
            panes_of[at] = -1
        inst[i, I_PANE_END] = FAR
        inst[i, I_ENTRIES] = 0
        inst[i, I_STATE_BYTES] = 0
    for values in range(2):  # values of distinct counts first: their owner is told by the entry that they belong to
        for b in range(table.shape[0]):
            before = -1
            e = table[b]
            while e >= 0:
                after = entry[e, S_NEXT]
                owner = entry[e, S_OWNER]
                lost = False
                if owner >= DISTINCT_VALUES:
                    if values == 0:
                        lost = inst[entry[entry[e, S_PANE], S_OWNER], I_HOST] == h
                elif values == 1:
                    lost = inst[owner, I_HOST] == h
                if lost:
                    if owner < DISTINCT_VALUES:
                        lose_rows(world, inst[owner, I_OP], e)
                    if before < 0:
                        table[b] = after
                    else:
                        entry[before, S_NEXT] = after
                    free_entry(entry, g, e)
                else:
                    before = e
                e = after
    return 0


def lose_rows(world, o, e):
    """Free the rows that an entry of operator `o` keeps, unless they were found by age."""
    op = world.op
    sides = 0
    first = 0
    if op[o, O_ROW_WORDS] > 0 and op[o, O_LISTS_LINK] <= 0:
        sides = 1
        first = op[o, O_FIRST_ROW]
        if first == 0:
            sides = 2
            first = S_LEFT + 1
    free_rows_of(world.entry, world.row, world.g, e, first, sides)


# -- a host that is back -------------------------------------------------------------------------------------------------------


@compiled
def renew_channels(world, h, now):
    """All credits of the channels from and to host `h` are with their senders: its own have them, the others get them from it now."""
    host = world.host
    inst = world.inst
    edge = world.edge
    chan = world.chan
    latency = world.latency
    link = world.link
    next_ns = world.next_ns
    for c in range(chan.shape[0]):
        i = chan[c, C_SENDER]
        h2 = inst[i, I_HOST]
        if edge[chan[c, C_EDGE], E_BOUND] == 0 or (h2 != h and inst[chan[c, C_RECEIVER], I_HOST] != h):
            continue
        back = 0
        if h2 != h:
            back = credit_back(link, latency[h, h2], now)
            chan[c, C_WAITING] = 0
            if inst[i, I_STATUS] == BLOCKED and back < inst[i, I_WAKE]:  # perhaps for another channel: then it finds that it has to wait
                inst[i, I_WAKE] = back
                host[h2, H_WAKE] = min(host[h2, H_WAKE], back)
                next_ns[h2] = min(next_ns[h2], back)
        give_credits(world, c, back)
    return 0
