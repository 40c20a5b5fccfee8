"""The service of a message from the queue: records, watermarks and ticks (sections 6 and 7)."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.alignment import pass_over, waited_for_barriers
from engine.core.kernels.dependency_vectors import merge, must_force
from engine.core.kernels.dispatch import turn_of
from engine.core.kernels.epochs import end_epoch, sweeps
from engine.core.kernels.event_loop.control_messages import serve_barrier, serve_control_message
from engine.core.kernels.memory import room_of
from engine.core.kernels.messages import add_output
from engine.core.kernels.transmission import credit_back
from engine.core.layout import *


def serve_message():
    """Serve the message at the head of the queue. Stop if the operator lacks space; nothing has happened then."""
    while IN_LOOP:  # over the services
        slot = inst[i, I_QUEUE]
        after = msg[slot, M_NEXT]
        kind = msg[slot, M_KIND]
        channel = msg[slot, M_CHANNEL]
        msg[slot, M_NEXT] = -1
        if memory_on:
            room = room_of(world, h, slot)
        if tracing:
            came_from = notes[slot, N_ORIGIN]
            notes[slot, N_ORIGIN] = -1
        # WEAVE if actors
        if best_ready < align[i, ALIGN_RELEASED]:
            aligned = waited_for_barriers(world, i, channel, best_ready)
            released = align[i, ALIGN_RELEASED]
        # WEAVE end
        before = -FAR
        limit = -FAR  # panes that end by then close
        if kind == RECORD:
            serve_record()
        elif kind == WATERMARK:  # (6)
            serve_watermark()
        # WEAVE if latencies
        elif kind == MARKER:  # (6)
            serve_marker()
        # WEAVE end
        # WEAVE if actors
        elif kind == CONTROL_MESSAGE:  # (12)
            serve_control_message()
        elif kind == BARRIER:  # (15)
            serve_barrier()
        # WEAVE end
        else:
            serve_tick()
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
        leave_queue()
        if kind == RECORD:  # its place in the channel is free again
            finish_record()


def serve_record():
    """Section 7: call the operator's kernel. What the record tells may first force a checkpoint (section 16)."""
    while IN_LOOP:  # over the services
        # WEAVE if forcing
        received_row = 0
        news = False
        forced = False
        if g[G_VECTOR] > 0:
            received_row = msg[slot, g[G_VECTOR]]
            news = gate[channel, Q_VECTOR] != vectors[received_row, KNOWN_SERIAL]
            forced = host[h, H_CALL] == CALL_DONE
        if not forced and news and must_force(world, i, received_row):
            msg[slot, M_NEXT] = after
            g[G_NEED] = i
            reason = CALL_OUT
            break
        # WEAVE end
        box[BOX_WORK] = 1
        trigger = msg[slot, M_TRIGGER]
        e = msg[slot, M_EDGE]  # an operator may send the message itself on, and then writes its port there
        port = edge[e, E_PORT]
        if op[o, O_SINK] >= 0:
            keep = True
            if par[at] >= 0:
                box[BOX_WORK] = max(msg[slot, M_PAYLOAD + par[at]], 0)
        # WEAVE on_record


def serve_watermark():
    """Section 6: find the least watermark of all input channels, of which one that makes its own takes the end alone."""
    before = chan[channel, C_WATERMARK]
    if msg[slot, M_EVENT] > before:
        chan[channel, C_WATERMARK] = msg[slot, M_EVENT]
        if before <= inst[i, I_WATERMARK] or inst[i, I_PERIOD] > 0:
            least = FAR
            for q in range(input_first[i], input_first[i + 1]):
                if chan[inputs[q], C_WATERMARK] < least:
                    least = chan[inputs[q], C_WATERMARK]
            if inst[i, I_PERIOD] > 0:
                if least == FAR:
                    inst[i, I_NEWEST_EVENT] = FAR
            elif least > inst[i, I_WATERMARK]:
                mark = least
                limit = mark
                # WEAVE if latencies
                if g[G_SWEEPING] == 1 and op[o, O_SINK] >= 0:
                    keep = sweeps(par, op[o, O_DEADLINES], max(inst[i, I_WATERMARK], op[o, O_START]), mark)
                # WEAVE end


def serve_marker():
    """Section 6: a latency marker goes on, whatever the operator does with records. A sink keeps it until the end of the service."""
    if op[o, O_SINK] >= 0:
        keep = True
    elif op[o, O_EDGE] < op[o, O_EDGE_END]:
        box[BOX_REUSED] = 1
        add_output(msg, box, slot)


def serve_tick():
    """Serve a tick: of a source for its watermark (section 5), of any other operator for its own watermark or its panes (section 7)."""
    if inst[i, I_SOURCE] == 1 and inst[i, I_PERIOD] == FAR:  # the end of a micro-batch
        if inst[i, I_WATERMARK] < FAR:
            mark = msg[slot, M_READY] - inst[i, I_LAG]
            inst[i, I_WATERMARK] = mark
        # WEAVE if watching
        host[h, H_RISEN] = t
        # WEAVE end
    elif inst[i, I_SOURCE] == 1:
        if inst[i, I_NEWEST_EVENT] > -FAR and inst[i, I_NEWEST_EVENT] - inst[i, I_LAG] > inst[i, I_WATERMARK]:
            mark = inst[i, I_NEWEST_EVENT] - inst[i, I_LAG]
            # WEAVE if epochs
            if g[G_EPOCHS] > 0:
                end_epoch(world, i, mark, inst[i, I_NEWEST_EVENT], t)
            # WEAVE end
            inst[i, I_WATERMARK] = mark
    elif inst[i, I_PERIOD] > 0:
        if inst[i, I_WATERMARK] < FAR:
            mark = FAR if inst[i, I_NEWEST_EVENT] == FAR else msg[slot, M_READY]
            inst[i, I_WATERMARK] = mark
    else:
        limit = msg[slot, M_READY]


def leave_queue():
    """Take the message out of its queue, and out of the memory of its host (section 13)."""
    if kind == WATERMARK and mark > -FAR:
        inst[i, I_WATERMARK] = mark
        # WEAVE if watching
        if tally[i, Y_WATCHED] == 1:
            host[h, H_RISEN] = t
        # WEAVE end
    # WEAVE if actors
    if align[i, ALIGN_BARRED] > 0:
        after = pass_over(world, i, after)
    # WEAVE end
    inst[i, I_QUEUE] = after
    inst[i, I_HEAD] = turn_of(msg[after, M_READY], msg[after, M_CLASS]) if after >= 0 else FAR
    inst[i, I_QUEUE_COUNT] -= 1
    inst[i, I_QUEUE_BYTES] -= msg[slot, M_BYTES]
    if memory_on:
        memory[h, Z_HELD] -= room
        memory[h, Z_ITEMS] -= op[o, O_WEIGHT]
        memory[h, Z_STATE] += inst[i, I_STATE_BYTES] - tally[i, Y_STATE]
        tally[i, Y_STATE] = inst[i, I_STATE_BYTES]


def finish_record():
    """Count a record as received, for protocols and for its channel (section 16), and return its credit."""
    # WEAVE if actors
    if aligned > 0:
        align[i, ALIGN_WAITED] += aligned
    # WEAVE end
    # WEAVE if serialising
    if inst[chan[channel, C_SENDER], I_HOST] != h:
        extra_ps += edge[e, E_RECEIVED_PS]
    # WEAVE end
    # WEAVE on_receive
    # WEAVE if forcing
    if forced:  # it has taken a checkpoint, whose first pieces leave before the outputs
        host[h, H_CALL] = CALL_NONE
        extra_ps += host[h, H_ANSWER_PS]
        if host[h, H_ANSWER] >= 0:
            msg[host[h, H_ANSWER_LAST], M_NEXT] = box[BOX_FIRST]
            box[BOX_FIRST] = host[h, H_ANSWER]
            if box[BOX_LAST] < 0:
                box[BOX_LAST] = host[h, H_ANSWER_LAST]
    if news:
        merge(world, i, received_row)
        gate[channel, Q_VECTOR] = vectors[received_row, KNOWN_SERIAL]
    # WEAVE end
    # WEAVE if counting
    carried[channel, SEQ_PROCESSED] = max(carried[channel, SEQ_PROCESSED], msg[slot, M_SEQUENCE] + 1)
    # WEAVE end
    bound = edge[e, E_BOUND]
    # WEAVE if losses
    if msg[slot, M_INCARNATION] != inst[chan[channel, C_SENDER], I_INCARNATION]:
        bound = 0  # who sent it is gone
    # WEAVE end
    if bound > 0:
        return_credit()


def return_credit():
    """Section 4, credits: send the credit back, and wake its sender if it waits for it."""
    sender = chan[channel, C_SENDER]
    h2 = inst[sender, I_HOST]
    back = t + local_ns
    if h2 != h:
        back = credit_back(link, latency[h, h2], t)
    credit[edge[e, E_CREDIT] + (channel - edge[e, E_CHANNEL]) * bound + chan[channel, C_CONSUMED] % bound] = back
    if chan[channel, C_WAITING] == 1:
        chan[channel, C_WAITING] = 0
        inst[sender, I_WAKE] = back
        if back < host[h2, H_WAKE]:
            host[h2, H_WAKE] = back
        if back < next_ns[h2]:
            next_ns[h2] = back
    chan[channel, C_CONSUMED] += 1
