"""The frame of every service (section 3): what it begins with, its price, its end."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.heaps import heap_push, turn_pop
from engine.core.kernels.memory import room_unsent
from engine.core.kernels.messages import add_output, free_message, take_message
from engine.core.kernels.service_cost import lasting, serialising_ps, times, varied
from engine.core.kernels.service_trace import note_service
from engine.core.layout import *


def check_space_for_service():
    """Stop if an array lacks space for this service. Nothing of the service has happened yet."""
    while IN_LOOP:  # over the services
        if tracing and g[G_TRACE] + TRACE_LINES > trace.shape[0]:
            reason = NEED_TRACE
            break
        if g[G_FREE] < 2:
            g[G_NEED] = 2
            reason = NEED_MESSAGES
            break
        # WEAVE spare


def begin_service():
    """Section 3: set what the work of this service will change."""
    now = t
    o = inst[i, I_OP]
    at = op[o, O_PARAMS]
    box[BOX_FIRST] = -1  # first output
    box[BOX_LAST] = -1  # last output
    box[BOX_REUSED] = 0  # 1 if the message served was used again
    box[BOX_WORK] = 0  # counted work ...
    box[BOX_READ] = 0  # ... and stored records that a firing has read
    box[BOX_COUNTED] = 0  # outputs that are only counted, in another one
    # WEAVE if changes
    box[BOX_STATE_PS] = 0
    # WEAVE end
    n = 0
    mark = -FAR
    keep = False
    extra_ps = 0
    trigger = -1
    channel = -1
    came_from = -1
    aligned = 0  # how long it waited for the barriers of other channels ...
    released = t  # ... and until when


def add_watermark():
    """Section 6: put the instance's new watermark behind the outputs."""
    if mark > -FAR and op[o, O_EDGE] < op[o, O_EDGE_END]:
        if slot >= 0:
            made = slot
            box[BOX_REUSED] = 1
        else:
            made = take_message(free, g)
            msg[made, M_TRIGGER] = -1
        # WEAVE if latencies
        if inst[i, I_SOURCE] == 1 or inst[i, I_PERIOD] > 0:  # where another sends it on, it is the message that raised the watermark
            msg[made, M_CLOCK] = t
            msg[made, M_NEWEST] = best_ready
            msg[made, M_OLDEST] = mark + inst[i, I_LAG] if mark < FAR else best_ready
        # WEAVE end
        msg[made, M_KIND] = WATERMARK
        msg[made, M_INCARNATION] = 0
        msg[made, M_EVENT] = mark
        msg[made, M_NEXT] = -1
        add_output(msg, box, made)


def price_service():
    """Section 3: price the service. Cost that varies (section 3.2) and memory pressure (section 13.1) change the price."""
    cost_ps = extra_ps + op[o, O_RECORD_PS] * box[BOX_WORK] + op[o, O_READ_PS] * box[BOX_READ]
    cost_ps += op[o, O_OUTPUT_PS] * (n + box[BOX_COUNTED])
    if box[BOX_READ] > 0:
        tally[i, Y_READ] += box[BOX_READ]
    # WEAVE if serialising
    if n > 0:
        cost_ps += serialising_ps(world, i, o)
    # WEAVE end
    # WEAVE if adapting
    cost_ps += align[i, ALIGN_INNER_PS] * n
    # WEAVE end
    # WEAVE if changes
    cost_ps += box[BOX_STATE_PS]
    # WEAVE end
    if kind == RECORD:
        inst[i, I_WAIT] += t - best_ready
        inst[i, I_EMITTED] += n + box[BOX_COUNTED]
        g[G_HOPS] += 1
    else:
        cost_ps += op[o, O_CONTROL_PS]
        inst[i, I_EMITTED] += n
    if op[o, O_NOISE] >= 0:
        cost_ps = varied(cost_ps, par, op[o, O_NOISE], inst, i, t)
    if memory_on:
        if memory[h, Z_PRESSURE] != NO_PRESSURE:
            cost_ps = times(cost_ps, memory[h, Z_PRESSURE])
        unsent = box[BOX_FIRST]
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


def start_service():
    """Occupy processor `p` until the end of the service."""
    if slot >= 0 and box[BOX_REUSED] == 0 and not keep:
        free_message(free, g, slot)
    inst[i, I_OUT] = box[BOX_FIRST]
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
    if dispatch_mode != DISPATCH_SCAN:
        schedule_end()
    if inst[i, I_TICK] < host[h, H_TICK]:
        host[h, H_TICK] = inst[i, I_TICK]
    if tracing:
        note_service(
            world, i, t, proc[p, P_END], trigger, kind, best_class, channel, slot, best_ready, service, came_from,
            aligned, released,
        )  # fmt: skip


def schedule_end():
    """Host with heaps: put the end of the service into the agenda or, where cores are shared (section 3.1), among the tags."""
    inst[i, I_LISTED] = LISTED_NO
    if dispatch_mode == DISPATCH_DEDICATED:
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
