"""Phases 1 and 2 of an instant (section 2): services that end, and blocked instances that go on."""

from engine.core.kernels.background import end_background_work
from engine.core.kernels.dispatch import look_at
from engine.core.kernels.event_loop.emission import emit
from engine.core.kernels.heaps import heap_pop
from engine.core.kernels.latencies import latency_bucket, note_latency
from engine.core.kernels.messages import free_message
from engine.core.layout import *


def complete_and_wake_up():
    """Section 2, phases 1 and 2: completions, then wake-ups, each with its emission (section 4)."""
    # WEAVE if background
    if host[h, H_BACKGROUND_END] <= t:
        end_background_work(world, h)
    # WEAVE end
    while True:
        i = host[h, H_EMITTING]
        if i < 0:
            if keeping and g[G_OUTPUT] == outputs.shape[0]:
                reason = NEED_OUTPUTS
                break
            p = -1
            find_completion()
            if p >= 0:
                complete()
            elif host[h, H_WAKE] <= t:  # before t where the host stood still meanwhile
                find_wake_up()
            if i < 0:
                break
            inst[i, I_STATUS] = EMITTING
            host[h, H_EMITTING] = i
        emit()
        if reason != DONE:
            break
        host[h, H_EMITTING] = -1
        if slot < 0:
            end_emission()


def find_completion():
    """Phase 1: find the processor `p` whose service ends now, the least instance first. `p` stays -1 if there is none."""
    if dispatch_mode == DISPATCH_SCAN:
        for x in range(first_processor, end_processor):
            if proc[x, P_END] == t and proc[x, P_INSTANCE] >= 0 and (p < 0 or proc[x, P_INSTANCE] < proc[p, P_INSTANCE]):
                p = x
    else:
        if host[h, H_RUNNING] > 0 and tags[member, DUE_KEY] <= host[h, H_WORK]:
            p = inst[tags[member, DUE_WHO], I_PROCESSOR]
            heap_pop(tags, member, host[h, H_RUNNING])
            host[h, H_RUNNING] -= 1
            inst[proc[p, P_INSTANCE], I_STOLEN] += t - proc[p, P_START] - proc[p, P_SERVICE]
        while p < 0 and host[h, H_AGENDA] > 0 and agenda[2 * member, DUE_KEY] <= t:
            k = agenda[2 * member, DUE_WHO]
            heap_pop(agenda, 2 * member, host[h, H_AGENDA])
            host[h, H_AGENDA] -= 1
            if k >= inst_count:  # a log record may be taken from now on
                k -= inst_count
                inst[k, I_AWAITS] = 0
                look_at(world, h, k)
            else:
                p = inst[k, I_PROCESSOR]


def complete():
    """End the service on processor `p`, and choose its instance `i` for the emission."""
    i = proc[p, P_INSTANCE]
    slot = proc[p, P_SLOT]
    if tracing and behind[i, B_ROW] >= g[G_TRACE_BASE]:  # else it began before tracing did
        trace[behind[i, B_ROW] - g[G_TRACE_BASE], T_END] = t
    if slot >= 0:  # a sink delivers (8)
        # WEAVE if latencies
        if msg[slot, M_KIND] != RECORD:
            deliver_mark()
        # WEAVE end
        if proc[p, P_SLOT] >= 0:
            deliver()
    proc[p, P_INSTANCE] = -1
    proc[p, P_END] = FAR
    if dispatch_mode == DISPATCH_TURN_HEAP:
        host[h, H_IDLE] += 1


def deliver():
    """Section 8: deliver the record in `slot` at a sink. It counts for latencies and digest, and is kept if the run keeps outputs."""
    o = inst[i, I_OP]
    sink = op[o, O_SINK]
    delay = t - msg[slot, anchor]
    width = op[o, O_WIDTH]
    stands_for = 1
    if par[op[o, O_PARAMS] + SINK_COUNTED] >= 0:
        stands_for = max(msg[slot, M_PAYLOAD + par[op[o, O_PARAMS] + SINK_COUNTED]], 0)
    if keeping:
        n = g[G_OUTPUT]
        g[G_OUTPUT] = n + 1
        outputs[n, OUTPUT_SINK] = sink
        outputs[n, OUTPUT_INSTANCE] = i
        outputs[n, OUTPUT_END] = t
        outputs[n, OUTPUT_EVENT] = msg[slot, M_EVENT]
        outputs[n, OUTPUT_TRIGGER] = msg[slot, M_TRIGGER]
        outputs[n, OUTPUT_LATENCY] = delay
        for c in range(width):
            outputs[n, OUTPUT_HEADER + c] = msg[slot, M_PAYLOAD + c]
    note_latency(histogram, latency_sums, sink, delay, stands_for)
    if par[op[o, O_PARAMS] + SINK_LATENCIES] >= 0:
        by_instance[par[op[o, O_PARAMS] + SINK_LATENCIES] + inst[i, I_INDEX], latency_bucket(delay)] += stands_for
    d = (inst[i, I_DIGEST] ^ t) * -7046029254386353131
    d = (d ^ msg[slot, M_EVENT]) * -7046029254386353131
    d = (d ^ msg[slot, M_TRIGGER]) * -7046029254386353131
    d = (d ^ delay) * -7046029254386353131
    for c in range(width):
        d = (d ^ msg[slot, M_PAYLOAD + c]) * -7046029254386353131
    measure_other_latencies()
    inst[i, I_DIGEST] = d ^ (d >> 32)
    inst[i, I_DELIVERED] += stands_for
    free_message(free, g, slot)
    proc[p, P_SLOT] = -1


def measure_other_latencies():
    """Section 8: count the latencies beside the measured one."""
    # WEAVE if latencies
    for k in range(g[G_MEASURES]):
        delay = -1  # it was counted when the record was read, or is one of watermarks
        if g[G_MEASURE_TO + k] < TO_READ:
            delay = t - msg[slot, g[G_MEASURE_FROM + k]]
            if g[G_MEASURE_TO + k] == TO_EMIT:
                delay += msg[slot, msg.shape[1] - 1 - stamps] - t
            x = (k + 1) * (histogram.shape[0] // (g[G_MEASURES] + 1)) + sink
            note_latency(histogram, latency_sums, x, delay, stands_for)
        if keeping:
            outputs[n, outputs.shape[1] - 1 - k] = delay
        d = (d ^ delay) * -7046029254386353131
    # WEAVE end


def deliver_mark():
    """Section 8: count the latencies of the sweeping watermark, or of the latency marker, in `slot`."""
    sink = op[inst[i, I_OP], O_SINK]
    point = TO_WATERMARK
    if msg[slot, M_KIND] == MARKER:
        point = TO_MARKER
    for k in range(g[G_MEASURES]):
        if g[G_MEASURE_TO + k] == point:
            delay = t - msg[slot, g[G_MEASURE_FROM + k]]
            x = (k + 1) * (histogram.shape[0] // (g[G_MEASURES] + 1)) + sink
            note_latency(histogram, latency_sums, x, delay, 1)
            inst[i, I_DIGEST] = (inst[i, I_DIGEST] ^ delay) * -7046029254386353131
    free_message(free, g, slot)
    proc[p, P_SLOT] = -1


def find_wake_up():
    """Phase 2: find the first blocked instance `i` whose awaited credit has arrived. `i` stays -1 if there is none."""
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


def end_emission():
    """Make instance `i` runnable again: all its outputs have left."""
    inst[i, I_STATUS] = IDLE
    if tracing:
        behind[i, B_IDLE] = t
    if inst[i, I_BLOCKED_SINCE] >= 0:
        inst[i, I_BLOCKED] += t - inst[i, I_BLOCKED_SINCE]
        inst[i, I_BLOCKED_SINCE] = -1
    if dispatch_mode != DISPATCH_SCAN:
        look_at(world, h, i)
