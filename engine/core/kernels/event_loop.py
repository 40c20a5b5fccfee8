"""The event loop: a template that `engine.core.weave` completes with the operators' kernels and compiles.

The model is `docs/event-core.md`; section numbers below are of that page. The structure that makes it fast:

* Conservative windows. Hosts influence each other after `lookahead` ns at least, so within [t0, t0 + lookahead) each is one tight loop.
* No heap. On a host the next instant is the least of a few heads: services in progress, two rings of arrivals, logs, ticks, credits.
* Admission. Every arrival joins its receiver's queue in order of time, so what waits is known whenever a processor chooses.
* Emission is a cursor. Outputs leave one at a time and can stop before any of them: for lack of credit (model) or of space (engine).
* Re-entry. Where an array is full the loop hands back at that very point; Python enlarges the array and calls again. Nothing is done twice.

One large function, because it can stop nearly everywhere and goes on there; what cannot stop is in helpers, which cost nothing.
Lines with `# WEAVE name` are replaced by calls of the functions that operators and protocols provide for that point.
"""

from engine.core.compiler import prefetch
from engine.core.kernels.alignment import let_in, pass_over, waited_for_barriers
from engine.core.kernels.channel_log import keep_copy
from engine.core.kernels.dependency_vectors import merge, must_force, publish
from engine.core.kernels.host_failure import lose_arrivals
from engine.core.kernels.service_trace import note_service
from engine.core.kernels.tools import (
    add_output,
    admit,
    enqueue,
    free_message,
    group_of,
    heap_pop,
    heap_push,
    is_weighed,
    lasting,
    let_sources_read,
    look_at,
    may_read,
    next_turn,
    note_latency,
    room_of,
    room_unsent,
    take_message,
    times,
    turn_of,
    turn_pop,
    turn_push,
    varied,
    weigh,
)
from engine.core.kernels.transmission import credit_back, hand_over, is_full, note_way, pass_trunk, send_control, settle, transmit
from engine.core.layout import *


def advance(world, stop):
    """Do everything at times <= stop. Returns DONE, or the reason for handing back (call again after mending it)."""
    msg = world.msg
    msg_f = world.msg_f
    free = world.free
    inst = world.inst
    proc = world.proc
    members = world.members
    host = world.host
    host_members = world.host_members
    agenda = world.agenda
    tags = world.tags
    turns = world.turns
    listed = world.listed
    next_ns = world.next_ns
    op = world.op
    op_edges = world.op_edges
    edge = world.edge
    chan = world.chan
    carried = world.carried
    gate = world.gate
    lore = world.lore
    sent_to = world.sent_to
    align = world.align
    inputs = world.inputs
    input_first = world.input_first
    credit = world.credit
    latency = world.latency
    link = world.link
    memory = world.memory
    tally = world.tally
    rings = world.rings
    route = world.route
    touched = world.touched
    log = world.log
    par = world.par
    code = world.code
    constants = world.constants
    stack = world.stack
    stack_f = world.stack_f
    table = world.table
    entry = world.entry
    entry_f = world.entry_f
    row = world.row
    pane = world.pane
    panes_of = world.panes_of
    histogram = world.histogram
    latency_sums = world.latency_sums
    trace = world.trace
    notes = world.notes
    entry_origin = world.entry_origin
    row_origin = world.row_origin
    behind = world.behind
    outputs = world.outputs
    hook = world.hook
    box = world.box
    g = world.g

    weighing = 0  # nothing is left of what asks for it in loops that do not weigh
    # WEAVE if memory
    weighing = is_weighed(memory)
    # WEAVE end
    acting = 0
    # WEAVE if actors
    acting = 1
    # WEAVE end
    # WEAVE if losses
    if g[G_LEFT] > 0:
        acting = 2
    # WEAVE end
    heaps = 0
    # WEAVE if heaps
    heaps = 1
    # WEAVE end
    machines = g[G_MACHINES]
    actors = g[G_ACTORS]
    hosts = next_ns.shape[0]  # machines, then trunks, then actors
    inst_count = listed.shape[0]
    ring_capacity = rings.shape[1]
    ring_mask = ring_capacity - 1
    local_ns = g[G_LOCAL_NS]
    lookahead = g[G_LOOKAHEAD]
    horizon = g[G_HORIZON]
    anchor = g[G_ANCHOR]
    tracing = g[G_TRACING] == 1
    keeping = g[G_KEEPING] == 1
    stamps = 0
    # WEAVE if latencies
    stamps = g[G_STAMPS]
    # WEAVE end
    noting = 0
    if tracing:
        noting = NOTE_WAY
    # WEAVE if losses
    noting += NOTE_LEFT * g[G_LEFT]
    # WEAVE end

    while True:
        # the next window
        t0 = FAR
        for h in range(hosts):
            if next_ns[h] < t0:
                t0 = next_ns[h]
        if t0 > stop:
            for h in range(machines):
                if weighing == 1 and memory[h, Z_DIED] >= 0:
                    continue
                if host[h, H_PAUSED] <= stop:  # ticks due meanwhile have to come first
                    admit(world, weighing, acting, heaps, h, stop)
            return DONE
        window_end = stop
        if stop - t0 >= lookahead:
            window_end = t0 + lookahead - 1
        g[G_WINDOWS] += 1
        touched_count = 0
        reason = DONE

        for h in range(machines):
            if next_ns[h] > window_end:
                continue
            if weighing == 1 and memory[h, Z_DIED] >= 0:  # something came, and nobody is there
                next_ns[h] = FAR
                continue
            # WEAVE if losses
            if host[h, H_BACK] > 0:  # it is down
                lose_arrivals(world, h, window_end)
                continue
            # WEAVE end
            first_processor = host[h, H_PROCESSOR]
            end_processor = host[h, H_PROCESSOR_END]
            threads = heaps * host[h, H_THREADS]
            sharing = heaps * host[h, H_SHARING]
            member = host[h, H_MEMBER]
            while True:
                # the next instant on this host
                held_back = weighing == 1 and memory[h, Z_FULL] == 1 and memory[h, Z_INGRESS] == INGRESS_THROTTLE
                t = host[h, H_RESUME]
                if t == FAR:
                    choosing = threads == 1 or host[h, H_IDLE] > 0  # while all are busy, arrivals wait for the next of the other events,
                    if weighing == 1 and memory[h, Z_WATCHED] == 1:  # but where they fill the memory
                        choosing = True
                    if threads == 0:
                        for p in range(first_processor, end_processor):
                            if proc[p, P_INSTANCE] >= 0:
                                if proc[p, P_END] < t:
                                    t = proc[p, P_END]
                            else:
                                choosing = True
                                for q in range(proc[p, P_FIRST], proc[p, P_FIRST] + proc[p, P_COUNT]):
                                    i = members[q]
                                    if inst[i, I_STATUS] == IDLE and may_read(inst, log, held_back, i):
                                        if log[inst[i, I_LOG], D_APPEND] < t and inst[i, I_RANK] < FAR:
                                            t = log[inst[i, I_LOG], D_APPEND]
                    else:
                        if host[h, H_AGENDA] > 0:
                            t = agenda[2 * member, 0]
                        running = host[h, H_RUNNING]
                        if running > 0:
                            rate = host[h, H_RATE]
                            if rate > 0:
                                ahead = host[h, H_WORK_AT] + (tags[member, 0] - host[h, H_WORK] + rate - 1) // rate
                                if ahead < t:
                                    t = ahead
                            if host[h, H_PERIOD] > 0:
                                if host[h, H_PERIOD_END] < t:
                                    t = host[h, H_PERIOD_END]
                                if rate > 0:
                                    ahead = host[h, H_WORK_AT] + (host[h, H_QUOTA_LEFT] + running * rate - 1) // (running * rate)
                                    if ahead < t:
                                        t = ahead
                    if host[h, H_WAKE] < t:
                        t = host[h, H_WAKE]
                    if host[h, H_TICK] < t:
                        t = host[h, H_TICK]
                    if choosing:
                        if host[h, H_LOCAL] < host[h, H_LOCAL_TAIL] and rings[2 * h, host[h, H_LOCAL] & ring_mask, 0] < t:
                            t = rings[2 * h, host[h, H_LOCAL] & ring_mask, 0]
                        if host[h, H_REMOTE] < host[h, H_REMOTE_SORTED] and rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, 0] < t:
                            t = rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, 0]
                if t > window_end:
                    next_ns[h] = t
                    break
                host[h, H_RESUME] = FAR
                if sharing == 1:
                    spent = host[h, H_RATE] * (t - host[h, H_WORK_AT])
                    host[h, H_WORK] += spent
                    host[h, H_WORK_AT] = t
                    host[h, H_QUOTA_LEFT] -= spent * host[h, H_RUNNING]
                    if host[h, H_PERIOD] > 0 and t >= host[h, H_PERIOD_END]:
                        host[h, H_QUOTA_LEFT] = host[h, H_QUOTA]
                        host[h, H_PERIOD_END] = (t // host[h, H_PERIOD] + 1) * host[h, H_PERIOD]

                # phases 1 and 2: completions, then wake-ups, each with its emission (4)
                while True:
                    i = host[h, H_EMITTING]
                    if i < 0:
                        if keeping and g[G_OUTPUT] == outputs.shape[0]:
                            reason = NEED_OUTPUTS
                            break
                        p = -1
                        if threads == 0:
                            for x in range(first_processor, end_processor):
                                if proc[x, P_END] == t and (p < 0 or proc[x, P_INSTANCE] < proc[p, P_INSTANCE]):
                                    p = x
                        else:
                            if host[h, H_RUNNING] > 0 and tags[member, 0] <= host[h, H_WORK]:
                                p = inst[tags[member, 1], I_PROCESSOR]
                                heap_pop(tags, member, host[h, H_RUNNING])
                                host[h, H_RUNNING] -= 1
                                inst[proc[p, P_INSTANCE], I_STOLEN] += t - proc[p, P_START] - proc[p, P_SERVICE]
                            while p < 0 and host[h, H_AGENDA] > 0 and agenda[2 * member, 0] <= t:
                                k = agenda[2 * member, 1]
                                heap_pop(agenda, 2 * member, host[h, H_AGENDA])
                                host[h, H_AGENDA] -= 1
                                if k >= inst_count:  # a log record may be taken from now on
                                    k -= inst_count
                                    inst[k, I_AWAITS] = 0
                                    look_at(world, h, k)
                                else:
                                    p = inst[k, I_PROCESSOR]
                        if p >= 0:
                            i = proc[p, P_INSTANCE]
                            slot = proc[p, P_SLOT]
                            if tracing and behind[i, B_ROW] >= g[G_TRACE_BASE]:  # else it began before tracing did
                                trace[behind[i, B_ROW] - g[G_TRACE_BASE], T_END] = t
                            if slot >= 0:  # a sink delivers (8)
                                o = inst[i, I_OP]
                                sink = op[o, O_SINK]
                                delay = t - msg[slot, anchor]
                                width = op[o, O_WIDTH]
                                if keeping:
                                    n = g[G_OUTPUT]
                                    g[G_OUTPUT] = n + 1
                                    outputs[n, 0] = sink
                                    outputs[n, 1] = i
                                    outputs[n, 2] = t
                                    outputs[n, 3] = msg[slot, M_EVENT]
                                    outputs[n, 4] = msg[slot, M_TRIGGER]
                                    outputs[n, 5] = delay
                                    for c in range(width):
                                        outputs[n, OUTPUT_HEADER + c] = msg[slot, M_PAYLOAD + c]
                                note_latency(histogram, latency_sums, sink, delay)
                                d = (inst[i, I_DIGEST] ^ t) * -7046029254386353131
                                d = (d ^ msg[slot, M_EVENT]) * -7046029254386353131
                                d = (d ^ msg[slot, M_TRIGGER]) * -7046029254386353131
                                d = (d ^ delay) * -7046029254386353131
                                for c in range(width):
                                    d = (d ^ msg[slot, M_PAYLOAD + c]) * -7046029254386353131
                                # WEAVE if latencies
                                for k in range(g[G_MEASURES]):
                                    delay = -1  # it was counted when the record was read
                                    if g[G_MEASURE_TO + k] != TO_READ:
                                        delay = t - msg[slot, g[G_MEASURE_FROM + k]]
                                        if g[G_MEASURE_TO + k] == TO_EMIT:
                                            delay += msg[slot, msg.shape[1] - 1 - stamps] - t
                                        x = (k + 1) * (histogram.shape[0] // (g[G_MEASURES] + 1)) + sink
                                        note_latency(histogram, latency_sums, x, delay)
                                    if keeping:
                                        outputs[n, outputs.shape[1] - 1 - k] = delay
                                    d = (d ^ delay) * -7046029254386353131
                                # WEAVE end
                                inst[i, I_DIGEST] = d ^ (d >> 32)
                                inst[i, I_DELIVERED] += 1
                                free_message(free, g, slot)
                                proc[p, P_SLOT] = -1
                            proc[p, P_INSTANCE] = -1
                            proc[p, P_END] = FAR
                            if threads == 2:
                                host[h, H_IDLE] += 1
                        elif host[h, H_WAKE] <= t:  # before t where the host stood still meanwhile
                            least = FAR
                            for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
                                k = host_members[q]
                                if inst[k, I_WAKE] <= t:
                                    if i < 0:
                                        i = k
                                elif inst[k, I_WAKE] < least:
                                    least = inst[k, I_WAKE]
                            if i < 0:
                                host[h, H_WAKE] = least
                            else:
                                inst[i, I_WAKE] = FAR
                        if i < 0:
                            break
                        inst[i, I_STATUS] = EMITTING
                        host[h, H_EMITTING] = i

                    k = inst[i, I_INDEX]
                    o = inst[i, I_OP]
                    slot = inst[i, I_OUT]
                    while slot >= 0:
                        x = inst[i, I_EDGE]
                        # WEAVE if actors
                        if msg[slot, M_KIND] == CONTROL_MESSAGE:
                            to = msg[slot, M_RECEIVER]
                            h2 = actors + to - inst_count
                            if to < inst_count:
                                h2 = inst[to, I_HOST]
                            if h2 == h:
                                if host[h, H_LOCAL_TAIL] - host[h, H_LOCAL] == ring_capacity:
                                    reason = NEED_RING
                                    break
                            elif is_full(world, latency[h, h2], h2):
                                reason = NEED_RING
                                break
                            made = slot
                            if weighing == 1:
                                memory[h, Z_HELD] -= msg[made, M_BYTES]
                            slot = msg[made, M_NEXT]
                            msg[made, M_NEXT] = -1
                            fifo = inst[i, I_FIFO]
                            msg[made, M_FIFO] = fifo
                            inst[i, I_FIFO] = fifo + 1
                            inst[i, I_CONTROLS] += 1
                            inst[i, I_OUT] = slot
                            tie = (i << 40) | fifo
                            if h2 == h:
                                hand_over(world, h, t + local_ns, tie, made)
                            else:
                                touched_count = send_control(world, noting, touched_count, t, h, h2, i, tie, made)
                            continue
                        # WEAVE end
                        if x == op[o, O_EDGE_END]:  # nobody listens
                            if weighing == 1:
                                memory[h, Z_HELD] -= room_unsent(world, h, o, slot)
                            if tracing:
                                notes[slot, N_ORIGIN] = -1
                            inst[i, I_OUT] = msg[slot, M_NEXT]
                            inst[i, I_EDGE] = op[o, O_EDGE]
                            free_message(free, g, slot)
                            slot = inst[i, I_OUT]
                            continue
                        e = op_edges[x]
                        is_record = msg[slot, M_KIND] == RECORD
                        if edge[e, E_FEEDBACK] == 1 and msg[slot, M_KIND] == WATERMARK:
                            inst[i, I_EDGE] = x + 1
                            continue
                        # WEAVE if regions
                        if edge[e, E_INNER] == 0 and msg[slot, M_KIND] == BARRIER:
                            inst[i, I_EDGE] = x + 1
                            continue
                        # WEAVE end
                        if op[o, O_PORTS] > 1 and is_record and msg[slot, M_EDGE] != edge[e, E_OUTPUT]:
                            inst[i, I_EDGE] = x + 1
                            continue
                        partitioning = edge[e, E_KIND]
                        parallel = op[edge[e, E_TARGET], O_PARALLEL]
                        stride = op[edge[e, E_TARGET], O_STRIDE]
                        more = False  # receivers after this one on this edge
                        if partitioning == FORWARD:
                            r = k
                            c = edge[e, E_CHANNEL] + k
                        else:
                            if partitioning == BROADCAST or not is_record:
                                r = inst[i, I_RECEIVER]
                                more = r + 1 < parallel
                            elif partitioning == HASH:
                                groups = edge[e, E_GROUPS]
                                r = route[edge[e, E_ROUTE] + group_of(msg[slot, M_PAYLOAD + edge[e, E_KEY]], edge[e, E_SCHEME], groups)]
                            else:
                                r = (k + chan[edge[e, E_CHANNEL] + k * stride, C_TURN]) % parallel
                            c = edge[e, E_CHANNEL] + k * stride + r
                        bound = edge[e, E_BOUND]
                        ticket = 0
                        if bound > 0 and is_record:
                            ticket = edge[e, E_CREDIT] + (c - edge[e, E_CHANNEL]) * bound + carried[c, V_SENT] % bound
                            if credit[ticket] > t:
                                inst[i, I_WAKE] = credit[ticket]
                                if inst[i, I_BLOCKED_SINCE] < 0:
                                    inst[i, I_BLOCKED_SINCE] = t
                                inst[i, I_STATUS] = BLOCKED
                                if credit[ticket] == FAR:
                                    chan[c, C_WAITING] = 1
                                elif credit[ticket] < host[h, H_WAKE]:
                                    host[h, H_WAKE] = credit[ticket]
                                break
                        i2 = op[edge[e, E_TARGET], O_FIRST] + r
                        h2 = inst[i2, I_HOST]
                        last = not more and x + 1 == op[o, O_EDGE_END]
                        wanted = 0 if last else 1
                        # WEAVE if logging
                        if is_record:
                            wanted += 1
                        # WEAVE end
                        if g[G_FREE] < wanted:
                            g[G_NEED] = wanted
                            reason = NEED_MESSAGES
                            break
                        # WEAVE if forcing
                        if is_record and g[G_LORE] > 0 and lore[i, KNOWN_SHARED] < 0 and g[G_LORE_ROWS_FREE] == 0:
                            reason = NEED_LORE
                            break
                        # WEAVE end
                        if h2 == h:
                            if host[h, H_LOCAL_TAIL] - host[h, H_LOCAL] == ring_capacity:
                                reason = NEED_RING
                                break
                        else:
                            way = latency[h, h2]
                            if is_full(world, way, h2):
                                reason = NEED_RING
                                break

                        # from here on the send happens
                        after = msg[slot, M_NEXT]
                        if last:
                            made = slot
                            if weighing == 1:
                                memory[h, Z_HELD] -= room_unsent(world, h, o, slot)
                        else:
                            made = take_message(free, g)
                            for column in range(M_KIND, msg.shape[1]):
                                msg[made, column] = msg[slot, column]
                        size = CONTROL_BYTES
                        if is_record:
                            size = edge[e, E_BYTES]
                            if bound > 0:
                                credit[ticket] = FAR
                                if inst[i, I_BLOCKED_SINCE] >= 0:
                                    inst[i, I_HELD] += t - inst[i, I_BLOCKED_SINCE]
                            if partitioning == REBALANCE:
                                chan[edge[e, E_CHANNEL] + k * stride, C_TURN] += 1
                        sequence = 0
                        if edge[e, E_COUNTED] == 1:
                            sequence = carried[c, V_SENT]
                            if is_record:
                                carried[c, V_SENT] = sequence + 1
                        msg[made, M_SEQUENCE] = sequence
                        # WEAVE if latencies
                        if g[G_MEASURES] > 0:
                            msg[made, msg.shape[1] - 1 - stamps] = t
                        # WEAVE end
                        # WEAVE if losses
                        msg[made, M_EPOCH] = inst[i, I_LIFE]
                        # WEAVE end
                        key_hash = 0
                        if is_record:
                            at = op[edge[e, E_TARGET], O_PARAMS]
                            port = edge[e, E_PORT]
                            # WEAVE key_hash
                            if key_hash != 0:  # by the time it arrives, its bucket is in the cache, and by its service the entry
                                prefetch(table, key_hash & (table.shape[0] - 1))
                        msg[made, M_HASH] = key_hash
                        # WEAVE if forcing
                        if is_record and g[G_LORE] > 0:
                            msg[made, g[G_LORE]] = publish(world, i)
                            sent_to[i, i2] = 1
                            size += g[G_LORE_BYTES]
                            host[h, H_PIGGYBACK_BYTES] += g[G_LORE_BYTES]
                        # WEAVE end
                        # WEAVE on_send
                        host[h, H_OUT_BYTES] += size
                        msg[made, M_BYTES] = size
                        msg[made, M_RECEIVER] = i2
                        msg[made, M_EDGE] = e
                        msg[made, M_CHANNEL] = c
                        msg[made, M_NEXT] = -1
                        fifo = inst[i, I_FIFO]
                        inst[i, I_FIFO] = fifo + 1
                        msg[made, M_FIFO] = fifo
                        # WEAVE if logging
                        if is_record and gate[c, Q_LOG] >= 0:
                            keep_copy(world, c, made)
                        # WEAVE end
                        tie = (i << 40) | fifo
                        if h2 == h:
                            arrival = t + local_ns
                            note_way(world, noting, i, made, t, t, t, arrival)
                            hand_over(world, h, arrival, tie, made)
                        else:
                            touched_count = transmit(world, noting, touched_count, t, way, h, h2, size, i, tie, made, t)
                        if not is_record:
                            inst[i, I_CONTROLS] += 1
                            if msg[made, M_KIND] == BARRIER:
                                host[h, H_BARRIER_BYTES] += size
                        if tracing:
                            notes[made, N_PARENT] = behind[i, B_ROW]
                            notes[made, N_ORIGIN] = notes[slot, N_ORIGIN]
                            # WEAVE if logging
                            if is_record and gate[c, Q_LOG] >= 0:
                                notes[gate[c, Q_KEPT_LAST], N_PARENT] = notes[made, N_PARENT]
                                notes[gate[c, Q_KEPT_LAST], N_ORIGIN] = notes[made, N_ORIGIN]
                            # WEAVE end
                        if last:
                            slot = after
                            inst[i, I_OUT] = slot
                            inst[i, I_EDGE] = op[o, O_EDGE]
                            inst[i, I_RECEIVER] = 0
                        elif more:
                            inst[i, I_RECEIVER] = r + 1
                        else:
                            inst[i, I_EDGE] = x + 1
                            inst[i, I_RECEIVER] = 0
                    if reason != DONE:
                        break
                    host[h, H_EMITTING] = -1
                    if slot < 0:
                        inst[i, I_STATUS] = IDLE
                        if tracing:
                            behind[i, B_IDLE] = t
                        if inst[i, I_BLOCKED_SINCE] >= 0:
                            inst[i, I_BLOCKED] += t - inst[i, I_BLOCKED_SINCE]
                            inst[i, I_BLOCKED_SINCE] = -1
                        if threads > 0:
                            look_at(world, h, i)
                if reason != DONE:
                    host[h, H_RESUME] = t
                    next_ns[h] = t
                    break

                # phases 3 and 4: ticks, behind what arrived before them; then the arrivals of this instant
                while True:
                    moment = host[h, H_TICK]
                    if moment > t:
                        admit(world, weighing, acting, heaps, h, t)
                        break
                    admit(world, weighing, acting, heaps, h, moment - 1)
                    least = FAR
                    for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
                        i = host_members[q]
                        if inst[i, I_TICK] == moment:
                            if g[G_FREE] == 0:
                                g[G_NEED] = 1
                                reason = NEED_MESSAGES
                                break
                            slot = take_message(free, g)
                            for column in range(M_PAYLOAD):
                                msg[slot, column] = 0
                            msg[slot, M_READY] = moment
                            msg[slot, M_CLASS] = CLASS_TICK
                            msg[slot, M_KIND] = TICK
                            msg[slot, M_TRIGGER] = -1
                            msg[slot, M_CHANNEL] = -1
                            msg[slot, M_NEXT] = -1
                            enqueue(world, weighing, acting, h, threads, i, slot)
                            due = moment
                            following = FAR
                            if inst[i, I_SOURCE] == 1:
                                if moment + inst[i, I_PERIOD] <= horizon:
                                    following = moment + inst[i, I_PERIOD]
                            else:
                                at = op[inst[i, I_OP], O_PARAMS]
                                # WEAVE next_tick
                            inst[i, I_TICK] = following
                        if inst[i, I_TICK] < least:
                            least = inst[i, I_TICK]
                    if reason != DONE:
                        break
                    host[h, H_TICK] = least
                if reason != DONE:
                    host[h, H_RESUME] = t
                    next_ns[h] = t
                    break

                # phase 5: idle processors choose
                p = first_processor - 1
                while True:
                    best = -1
                    best_rank = FAR
                    best_turn = FAR
                    if threads == 2:
                        if host[h, H_IDLE] == 0:
                            break
                        turn = -1
                        if host[h, H_LISTED] > 0:
                            host[h, H_LISTED] -= 1
                            i = listed[member + host[h, H_LISTED]]
                        else:
                            p += 1
                            if p == end_processor:
                                break
                            leader = proc[p, P_LEADER]
                            if proc[p, P_INSTANCE] >= 0 or proc[leader, P_TURNS] == 0:
                                continue
                            turn = proc[p, P_FIRST]
                            i = turns[turn, 2] & 0xFFFFFFFFFF
                        if inst[i, I_STATUS] == IDLE and inst[i, I_RANK] < FAR:
                            best_turn = next_turn(inst, log, held_back, acting, i, t)
                        best_ready = best_turn >> 2
                        who = (best_turn & 3) << 40 | i
                        if turn >= 0 and turns[turn, 1] == best_ready and turns[turn, 2] == who:
                            best = i
                        else:
                            if turn >= 0:  # what it waited with is gone
                                turn_pop(turns, turn, proc[leader, P_TURNS])
                                proc[leader, P_TURNS] -= 1
                                p -= 1
                            inst[i, I_LISTED] = 0
                            if best_turn < FAR:
                                inst[i, I_LISTED] = 2
                                leader = proc[inst[i, I_PROCESSOR], P_LEADER]
                                turn_push(turns, proc[leader, P_FIRST], proc[leader, P_TURNS], inst[i, I_RANK], best_ready, who)
                                proc[leader, P_TURNS] += 1
                                continue
                    elif threads == 1:
                        if host[h, H_LISTED] == 0:
                            break
                        p = inst[listed[member + host[h, H_LISTED] - 1], I_PROCESSOR]
                    else:
                        p += 1
                        if p == end_processor:
                            break
                        if proc[p, P_INSTANCE] >= 0:
                            continue
                    looked_at = proc[p, P_COUNT] if threads < 2 else 0
                    scan = proc[max(p, 0), P_FIRST]  # of those who take turns nobody has been chosen yet
                    for q in range(scan, scan + looked_at):
                        i = members[q]
                        if inst[i, I_STATUS] != IDLE:
                            continue
                        its_turn = next_turn(inst, log, held_back, acting, i, t)
                        if host[h, H_RANKED] == 1:
                            rank = inst[i, I_RANK]
                            if rank > best_rank or rank == FAR:
                                continue
                            if rank < best_rank and its_turn < FAR:
                                best_rank = rank
                                best_turn = FAR
                        if its_turn < best_turn:
                            best = i
                            best_turn = its_turn
                    if best < 0:
                        if threads == 1:
                            host[h, H_LISTED] -= 1
                            i = listed[member + host[h, H_LISTED]]
                            inst[i, I_LISTED] = 0
                        if threads > 0:
                            if (
                                inst[i, I_STATUS] == IDLE
                                and inst[i, I_AWAITS] == 0
                                and inst[i, I_RANK] < FAR
                                and may_read(inst, log, held_back, i)
                            ):
                                inst[i, I_AWAITS] = 1
                                heap_push(agenda, 2 * member, host[h, H_AGENDA], log[inst[i, I_LOG], D_APPEND], inst_count + i)
                                host[h, H_AGENDA] += 1
                        continue
                    i = best
                    best_ready = best_turn >> 2
                    best_class = best_turn & 3
                    if tracing and g[G_TRACE] + TRACE_LINES > trace.shape[0]:
                        reason = NEED_TRACE
                        break
                    if g[G_FREE] < 2:
                        g[G_NEED] = 2
                        reason = NEED_MESSAGES
                        break
                    # WEAVE spare
                    now = t
                    o = inst[i, I_OP]
                    at = op[o, O_PARAMS]
                    box[0] = -1  # first output
                    box[1] = -1  # last output
                    box[2] = 0  # 1 if the message served was used again
                    box[3] = 0  # counted work
                    n = 0
                    mark = -FAR
                    keep = False
                    extra_ps = 0
                    trigger = -1
                    channel = -1
                    came_from = -1
                    aligned = 0  # how long it waited for the barriers of other channels ...
                    released = t  # ... and until when
                    if best_class == CLASS_LOG:  # (5)
                        slot = -1
                        line = inst[i, I_LOG]
                        inst[i, I_LOG] = line + 1
                        prefetch(log, line + AHEAD, 0)  # too many logs are read in turn for the processor to see that it is in order
                        # WEAVE if coordinated
                        if inst[i, I_SHIFT] >= 0 and log[line, D_TRIGGER] >= 0:  # it is made now, the next one counts from here
                            shift = inst[i, I_SHIFT] + t - log[line, D_APPEND]
                            inst[i, I_SHIFT] = shift
                            best_ready = t
                            log[line, D_APPEND] = t
                            log[line, D_EVENT] += shift
                            for x in range(par[at]):
                                log[line, D_PAYLOAD + par[at + 1 + x]] += shift
                            if line + 1 < inst[i, I_LOG_END] and log[line + 1, D_TRIGGER] >= 0:
                                log[line + 1, D_APPEND] += shift
                        # WEAVE end
                        shedding = weighing == 1 and memory[h, Z_FULL] == 1 and memory[h, Z_INGRESS] == INGRESS_DROP
                        if log[line, D_TRIGGER] >= 0 and shedding:
                            kind = RECORD
                            trigger = log[line, D_TRIGGER]
                            box[3] = 1
                            tally[i, Y_SHED] += 1
                            if log[line, D_EVENT] > inst[i, I_NEWEST_EVENT]:
                                inst[i, I_NEWEST_EVENT] = log[line, D_EVENT]
                        elif log[line, D_TRIGGER] >= 0:
                            trigger = log[line, D_TRIGGER]
                            kind = RECORD
                            made = take_message(free, g)
                            msg[made, M_KIND] = RECORD
                            msg[made, M_NEXT] = -1
                            msg[made, M_EVENT] = log[line, D_EVENT]
                            msg[made, M_TRIGGER] = trigger
                            clock = t
                            if g[G_CLOCK] == CLOCK_EVENT:
                                clock = log[line, D_EVENT]
                            elif g[G_CLOCK] == CLOCK_APPEND:
                                clock = log[line, D_APPEND]
                            msg[made, M_CLOCK] = clock
                            msg[made, M_NEWEST] = clock
                            msg[made, M_OLDEST] = clock
                            # WEAVE if latencies
                            for k in range(stamps):
                                clock = t
                                if g[G_STAMP_CLOCK + k] == CLOCK_EVENT:
                                    clock = log[line, D_EVENT]
                                elif g[G_STAMP_CLOCK + k] == CLOCK_APPEND:
                                    clock = log[line, D_APPEND]
                                msg[made, msg.shape[1] - 1 - k] = clock
                            # WEAVE end
                            msg[made, M_EPOCH] = 0
                            for c in range(op[o, O_WIDTH]):
                                msg[made, M_PAYLOAD + c] = log[line, D_PAYLOAD + c]
                            box[0] = made
                            box[1] = made
                            box[3] = 1
                            n = 1
                            if log[line, D_EVENT] > inst[i, I_NEWEST_EVENT]:
                                inst[i, I_NEWEST_EVENT] = log[line, D_EVENT]
                        elif log[line, D_TRIGGER] == LOG_WATERMARK:
                            kind = WATERMARK
                            if log[line, D_EVENT] > inst[i, I_WATERMARK]:
                                mark = log[line, D_EVENT]
                                inst[i, I_WATERMARK] = mark
                        else:
                            kind = END_OF_LOG
                            if inst[i, I_WATERMARK] < FAR:
                                mark = FAR
                                inst[i, I_WATERMARK] = FAR
                        # WEAVE if latencies
                        if kind == RECORD:
                            for k in range(g[G_MEASURES]):
                                if g[G_MEASURE_TO + k] == TO_READ:  # under the first sink
                                    x = (k + 1) * (histogram.shape[0] // (g[G_MEASURES] + 1))
                                    note_latency(histogram, latency_sums, x, t - best_ready)
                        # WEAVE end
                    else:
                        slot = inst[i, I_QUEUE]
                        after = msg[slot, M_NEXT]
                        kind = msg[slot, M_KIND]
                        channel = msg[slot, M_CHANNEL]
                        msg[slot, M_NEXT] = -1
                        if weighing == 1:
                            room = room_of(world, h, slot)
                        if tracing:
                            came_from = notes[slot, N_ORIGIN]
                            notes[slot, N_ORIGIN] = -1
                        # WEAVE if actors
                        if best_ready < align[i, A_RELEASED]:
                            aligned = waited_for_barriers(world, i, channel, best_ready)
                            released = align[i, A_RELEASED]
                        # WEAVE end
                        before = -FAR
                        limit = -FAR  # panes that end by then close
                        if kind == RECORD:
                            # WEAVE if forcing
                            told = 0
                            news = False
                            forced = False
                            if g[G_LORE] > 0:
                                told = msg[slot, g[G_LORE]]
                                news = gate[channel, Q_LORE] != lore[told, KNOWN_SERIAL]
                                forced = host[h, H_ANSWERED] == 1
                            if not forced and news and must_force(world, i, told):
                                msg[slot, M_NEXT] = after
                                g[G_NEED] = i
                                reason = CALL_OUT
                                break
                            # WEAVE end
                            box[3] = 1
                            trigger = msg[slot, M_TRIGGER]
                            e = msg[slot, M_EDGE]  # an operator may send the message itself on, and then writes its port there
                            port = edge[e, E_PORT]
                            if op[o, O_SINK] >= 0:
                                keep = True
                            # WEAVE on_record
                        elif kind == WATERMARK:  # (6)
                            before = chan[channel, C_WATERMARK]
                            if msg[slot, M_EVENT] > before:
                                chan[channel, C_WATERMARK] = msg[slot, M_EVENT]
                                if before <= inst[i, I_WATERMARK]:
                                    least = FAR
                                    for q in range(input_first[i], input_first[i + 1]):
                                        if chan[inputs[q], C_WATERMARK] < least:
                                            least = chan[inputs[q], C_WATERMARK]
                                    if least > inst[i, I_WATERMARK]:
                                        mark = least
                                        limit = mark
                        # WEAVE if actors
                        elif kind == CONTROL_MESSAGE:  # (12)
                            if host[h, H_ANSWERED] == 0:  # Python says what the instance makes of it; nothing has happened yet
                                msg[slot, M_NEXT] = after
                                g[G_NEED] = i
                                reason = CALL_OUT
                                break
                            if host[h, H_ANSWERED] == 2:
                                inst[i, I_RANK] = FAR
                            host[h, H_ANSWERED] = 0
                            box[0] = host[h, H_ANSWER]
                            box[1] = host[h, H_ANSWER_LAST]
                            extra_ps = host[h, H_ANSWER_PS]
                        elif kind == BARRIER:  # (15)
                            if align[i, A_BARRED] == 0:
                                align[i, A_SINCE] = t
                            last = align[i, A_BARRED] + 1 == align[i, A_INPUTS]
                            sends_on = last
                            if g[G_OVERTAKE] == 1:
                                sends_on = align[i, A_BARRED] == 0
                            gate[channel, Q_CUT] = msg[slot, M_SEQUENCE]
                            if not last and not sends_on:
                                if g[G_OVERTAKE] == 0:
                                    gate[channel, Q_GENERATION] = align[i, A_GENERATION]
                                    gate[channel, Q_BARRED] = t
                                align[i, A_BARRED] += 1
                            elif host[h, H_ANSWERED] == 0:
                                msg[slot, M_NEXT] = after
                                g[G_NEED] = i
                                reason = CALL_OUT
                                break
                            else:
                                if host[h, H_ANSWERED] == 2:
                                    inst[i, I_RANK] = FAR
                                host[h, H_ANSWERED] = 0
                                if last:  # what came meanwhile may be served
                                    after = let_in(world, i, after)
                                    align[i, A_RELEASED] = t
                                else:
                                    align[i, A_BARRED] += 1
                                box[0] = host[h, H_ANSWER]
                                box[1] = host[h, H_ANSWER_LAST]
                                if sends_on and op[o, O_EDGE] < op[o, O_EDGE_END]:  # and behind it what the agent sends
                                    msg[slot, M_NEXT] = box[0]
                                    box[0] = slot
                                    if box[1] < 0:
                                        box[1] = slot
                                    box[2] = 1
                                extra_ps = host[h, H_ANSWER_PS]
                        # WEAVE end
                        else:
                            if inst[i, I_SOURCE] == 1:
                                if inst[i, I_NEWEST_EVENT] > -FAR and inst[i, I_NEWEST_EVENT] - inst[i, I_LAG] > inst[i, I_WATERMARK]:
                                    mark = inst[i, I_NEWEST_EVENT] - inst[i, I_LAG]
                                    inst[i, I_WATERMARK] = mark
                            else:
                                limit = msg[slot, M_READY]
                        if limit > -FAR:
                            by_timer = kind == TICK
                            # WEAVE on_close
                        if n < 0:  # the operator lacks space and has done nothing yet
                            msg[slot, M_NEXT] = after
                            if kind == WATERMARK:
                                chan[channel, C_WATERMARK] = before
                            if tracing:
                                notes[slot, N_ORIGIN] = came_from
                            reason = -n
                            break
                        if kind == WATERMARK and mark > -FAR:
                            inst[i, I_WATERMARK] = mark
                        # WEAVE if actors
                        if align[i, A_BARRED] > 0:
                            after = pass_over(world, i, after)
                        # WEAVE end
                        inst[i, I_QUEUE] = after
                        inst[i, I_HEAD] = turn_of(msg[after, M_READY], msg[after, M_CLASS]) if after >= 0 else FAR
                        inst[i, I_QUEUE_COUNT] -= 1
                        inst[i, I_QUEUE_BYTES] -= msg[slot, M_BYTES]
                        if weighing == 1:
                            memory[h, Z_HELD] -= room
                            memory[h, Z_ITEMS] -= op[o, O_WEIGHT]
                            memory[h, Z_STATE] += inst[i, I_STATE_BYTES] - tally[i, Y_STATE]
                            tally[i, Y_STATE] = inst[i, I_STATE_BYTES]
                        if kind == RECORD:  # its place in the channel is free again
                            # WEAVE if actors
                            if aligned > 0:
                                align[i, A_WAITED] += aligned
                            # WEAVE end
                            # WEAVE on_receive
                            # WEAVE if forcing
                            if forced:  # it has taken a checkpoint, whose first pieces leave before the outputs
                                host[h, H_ANSWERED] = 0
                                extra_ps += host[h, H_ANSWER_PS]
                                if host[h, H_ANSWER] >= 0:
                                    msg[host[h, H_ANSWER_LAST], M_NEXT] = box[0]
                                    box[0] = host[h, H_ANSWER]
                                    if box[1] < 0:
                                        box[1] = host[h, H_ANSWER_LAST]
                            if news:
                                merge(world, i, told)
                                gate[channel, Q_LORE] = lore[told, KNOWN_SERIAL]
                            # WEAVE end
                            # WEAVE if counting
                            carried[channel, V_PROCESSED] = max(carried[channel, V_PROCESSED], msg[slot, M_SEQUENCE] + 1)
                            # WEAVE end
                            bound = edge[e, E_BOUND]
                            # WEAVE if losses
                            if msg[slot, M_EPOCH] != inst[chan[channel, C_SENDER], I_LIFE]:
                                bound = 0  # who sent it is gone
                            # WEAVE end
                            if bound > 0:
                                sender = chan[channel, C_SENDER]
                                h2 = inst[sender, I_HOST]
                                back = t + local_ns
                                if h2 != h:
                                    back = credit_back(link, latency[h, h2], t)
                                credit[edge[e, E_CREDIT] + (channel - edge[e, E_CHANNEL]) * bound + chan[channel, C_CONSUMED] % bound] = (
                                    back
                                )
                                if chan[channel, C_WAITING] == 1:
                                    chan[channel, C_WAITING] = 0
                                    inst[sender, I_WAKE] = back
                                    if back < host[h2, H_WAKE]:
                                        host[h2, H_WAKE] = back
                                    if back < next_ns[h2]:
                                        next_ns[h2] = back
                                chan[channel, C_CONSUMED] += 1
                    if mark > -FAR and op[o, O_EDGE] < op[o, O_EDGE_END]:
                        if slot >= 0:
                            made = slot
                            box[2] = 1
                        else:
                            made = take_message(free, g)
                            msg[made, M_TRIGGER] = -1
                        msg[made, M_KIND] = WATERMARK
                        msg[made, M_EPOCH] = 0
                        msg[made, M_EVENT] = mark
                        msg[made, M_NEXT] = -1
                        add_output(msg, box, made)
                    cost_ps = extra_ps + op[o, O_RECORD_PS] * box[3] + op[o, O_OUTPUT_PS] * n
                    # WEAVE if adapting
                    cost_ps += align[i, A_INNER_PS] * n
                    # WEAVE end
                    if kind == RECORD:
                        inst[i, I_WAIT] += t - best_ready
                        inst[i, I_EMITTED] += n
                        g[G_HOPS] += 1
                    else:
                        cost_ps += op[o, O_CONTROL_PS]
                        inst[i, I_EMITTED] += n
                    if op[o, O_NOISE] >= 0:
                        cost_ps = varied(cost_ps, par, op[o, O_NOISE], inst, i, t)
                    if weighing == 1:
                        if memory[h, Z_PRESSURE] != NO_PRESSURE:
                            cost_ps = times(cost_ps, memory[h, Z_PRESSURE])
                        unsent = box[0]
                        while unsent >= 0:
                            memory[h, Z_HELD] += room_unsent(world, h, o, unsent)
                            unsent = msg[unsent, M_NEXT]
                    service = inst[i, I_SERVICE]
                    if cost_ps != inst[i, I_COST]:
                        service = (cost_ps + host[h, H_SPEED] - 1) // host[h, H_SPEED]
                        if service < 1:
                            service = 1
                        inst[i, I_COST] = cost_ps
                        inst[i, I_SERVICE] = service
                    if slot >= 0 and box[2] == 0 and not keep:
                        free_message(free, g, slot)
                    inst[i, I_OUT] = box[0]
                    inst[i, I_EDGE] = op[o, O_EDGE]
                    inst[i, I_RECEIVER] = 0
                    inst[i, I_STATUS] = SERVING
                    inst[i, I_BUSY] += service
                    lasts = service
                    # WEAVE if stolen
                    lasts = lasting(service, op[o, O_ATTAINABLE])
                    inst[i, I_STOLEN] += lasts - service
                    # WEAVE end
                    if kind == RECORD:
                        inst[i, I_IN] += 1
                    else:
                        inst[i, I_CONTROL_NS] += service
                    proc[p, P_INSTANCE] = i
                    proc[p, P_END] = t + lasts
                    proc[p, P_SLOT] = slot if keep else -1
                    proc[p, P_START] = t
                    # WEAVE if losses
                    if g[G_LEFT] > 0:
                        inst[i, I_KIND] = kind
                    # WEAVE end
                    if threads > 0:
                        inst[i, I_LISTED] = 0
                        if threads == 1:
                            host[h, H_LISTED] -= 1
                        else:
                            turn_pop(turns, turn, proc[leader, P_TURNS])
                            proc[leader, P_TURNS] -= 1
                            inst[i, I_PROCESSOR] = p
                            host[h, H_IDLE] -= 1
                        if sharing == 1:
                            proc[p, P_END] = FAR
                            proc[p, P_SERVICE] = service
                            heap_push(tags, member, host[h, H_RUNNING], host[h, H_WORK] + service * UNIT, i)
                            host[h, H_RUNNING] += 1
                        else:
                            heap_push(agenda, 2 * member, host[h, H_AGENDA], t + lasts, i)
                            host[h, H_AGENDA] += 1
                    if inst[i, I_TICK] < host[h, H_TICK]:
                        host[h, H_TICK] = inst[i, I_TICK]
                    if tracing:
                        note_service(
                            world, i, t, proc[p, P_END], trigger, kind, best_class, channel, slot, best_ready, service, came_from,
                            aligned, released,
                        )  # fmt: skip
                if reason != DONE:
                    host[h, H_RESUME] = t
                    next_ns[h] = t
                    break
                if weighing == 1 and memory[h, Z_WATCHED] == 1:
                    weigh(world, h, t)
                    if memory[h, Z_DIED] >= 0:
                        host[h, H_RATE] = 0
                        next_ns[h] = FAR
                        if memory[h, Z_RESTART] < FAR:
                            reason = DEATH
                        break
                    if held_back and memory[h, Z_FULL] == 0:
                        host[h, H_RESUME] = t + 1
                        if threads > 0:
                            let_sources_read(world, h)
                if sharing == 1:
                    running = host[h, H_RUNNING]
                    rate = 0
                    if running == 0:
                        host[h, H_WORK] = 0
                    elif host[h, H_PERIOD] == 0 or host[h, H_QUOTA_LEFT] > 0:
                        rate = host[h, H_UNITS] // running if running <= host[h, H_UNTAXED] else host[h, H_TAXED] // running
                        if rate > UNIT:
                            rate = UNIT
                        elif rate < 1:
                            rate = 1
                    host[h, H_RATE] = rate
                    if host[h, H_WORK] > REBASE:
                        for n in range(running):
                            tags[member + n, 0] -= host[h, H_WORK]
                        host[h, H_WORK] = 0
            if reason != DONE:
                break

        # close the window: what was sent to other hosts becomes visible, in order; what has entered a trunk by now passes through it
        passing = actors > machines and reason == DONE
        while True:
            for k in range(touched_count):
                h = touched[k]
                settle(world, h)
            touched_count = 0
            if not passing:
                break
            passing = False
            for h in range(machines, actors):
                while next_ns[h] <= window_end:
                    q = host[h, H_REMOTE] & ring_mask
                    t = next_ns[h]
                    tie = rings[2 * h + 1, q, 1]
                    made = rings[2 * h + 1, q, 2]
                    h2 = inst[msg[made, M_RECEIVER], I_HOST]
                    if host[h2, H_REMOTE_TAIL] - host[h2, H_REMOTE] == ring_capacity:
                        reason = NEED_RING
                        break
                    touched_count = pass_trunk(world, touched_count, h, h2, t, tie, made)
                    host[h, H_REMOTE] += 1
                    next_ns[h] = FAR
                    if host[h, H_REMOTE] < host[h, H_REMOTE_SORTED]:
                        next_ns[h] = rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, 0]
        # WEAVE if actors
        if reason == DONE:
            for h in range(actors, hosts):
                if next_ns[h] <= window_end:
                    reason = ACTORS
            g[G_WINDOW_END] = window_end
        # WEAVE end
        if reason != DONE:
            return reason
