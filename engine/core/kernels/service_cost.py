"""What a service costs and how long it lasts, where that varies or time is stolen (docs/event-core.md, section 3.2)."""

from engine.core.compiler import rare
from engine.core.kernels.hashing import mix64
from engine.core.layout import *


def times(value, factor):
    """floor(value x factor / 2^16) where the product does not fit a word."""
    return (value >> 16) * factor + ((value & 0xFFFF) * factor >> 16)


def lasting(service, attainable):
    """How long a service of so much work takes where others steal time from it, ns: floor(service x 2^16 / attainable)."""
    return (service // attainable << 16) + (service % attainable << 16) // attainable


def work_left(left, attainable):
    """How much work is left of a service that goes on for so long, ns: ceil(left x attainable / 2^16)."""
    return (left >> 16) * attainable + ((left & 0xFFFF) * attainable + 0xFFFF >> 16)


def serialising_ps(world, i, o):
    """Work of serialising the outputs of instance `i` of operator `o` for other hosts (docs/event-core.md, 3.3)."""
    msg = world.msg
    edge = world.edge
    total = 0
    for x in range(world.op[o, O_EDGE], world.op[o, O_EDGE_END]):
        e = world.op_edges[x]
        if edge[e, E_SENT_PS] > 0:
            outputs = 0
            made = world.box[BOX_FIRST]
            while made >= 0:
                if world.op[o, O_PORTS] == 1 or msg[made, M_EDGE] == edge[e, E_OUTPUT]:
                    if msg[made, M_KIND] == RECORD:
                        outputs += 1
                    elif msg[made, M_KIND] == PENDING:
                        outputs += msg[made, PENDING_LEFT]
                made = msg[made, M_NEXT]
            one_of = 1  # each output goes to one of so many
            if edge[e, E_KIND] != FORWARD and edge[e, E_KIND] != BROADCAST:
                one_of = world.op[edge[e, E_TARGET], O_PARALLEL]
            total += edge[e, E_SENT_PS] * outputs * receivers_away(world, i, e) // one_of
    return total


def receivers_away(world, i, e):
    """How many of the receivers on edge `e` of instance `i` stand on other hosts than it."""
    inst = world.inst
    target = world.edge[e, E_TARGET]
    first = world.op[target, O_FIRST] + world.op[target, O_BEGIN]
    count = world.op[target, O_PARALLEL]
    away = 0
    if world.edge[e, E_KIND] == FORWARD:
        if inst[first + inst[i, I_INDEX], I_HOST] != inst[i, I_HOST]:
            away = 1
    else:
        for r in range(first, first + count):
            if inst[r, I_HOST] != inst[i, I_HOST]:
                away += 1
    return away


@rare
def varied(cost_ps, par, at, inst, i, t):
    """The cost of an instance's next service, at `t`, with its state, warm-up, drift and noise (docs/event-core.md, 3.2)."""
    n = inst[i, I_SERVICES]
    inst[i, I_SERVICES] = n + 1
    if par[at + NOISE_STATE_BYTES] > 0:
        cost_ps += times(cost_ps, min((inst[i, I_STATE_BYTES] << 16) // par[at + NOISE_STATE_BYTES], STATE_MAX))
    left = par[at + NOISE_WARM_UP_RECORDS] - inst[i, I_IN] + inst[i, I_COLD]
    if left > 0:
        cost_ps += times(cost_ps, par[at + NOISE_WARM_UP] * left // par[at + NOISE_WARM_UP_RECORDS])
    left = par[at + NOISE_WARM_UP_NS] - t + inst[i, I_UP]
    if left > 0:
        cost_ps += times(cost_ps, par[at + NOISE_WARM_UP] * left // par[at + NOISE_WARM_UP_NS])
    if par[at + NOISE_DRIFT_STEP_NS] > 0:
        cost_ps = times(cost_ps, par[at + par[at + NOISE_DRIFT] + t // par[at + NOISE_DRIFT_STEP_NS]])
    if par[at + NOISE_TABLE] == 1:
        word = mix64((n + 1) * -7046029254386353131 + inst[i, I_NOISE])
        half = at + NOISE_FACTORS
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
