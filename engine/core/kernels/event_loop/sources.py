"""The service of a row of a source's log (section 5)."""

from engine.core.compiler import prefetch
from engine.core.kernels.epochs import end_epoch, note_delay
from engine.core.kernels.latencies import note_latency
from engine.core.kernels.messages import take_message
from engine.core.layout import *


def read_log():
    """Section 5: serve the next row of the log: a record, a watermark, a latency marker, or the end."""
    slot = -1
    line = inst[i, I_LOG]
    inst[i, I_LOG] = line + 1
    prefetch(log, line + AHEAD, 0)  # too many logs are read in turn for the processor to see that it is in order
    delay_generator()
    shedding = memory_on and memory[h, Z_FULL] == 1 and memory[h, Z_INGRESS] == INGRESS_DROP
    if log[line, D_TRIGGER] >= 0 and shedding:
        kind = RECORD
        trigger = log[line, D_TRIGGER]
        box[BOX_WORK] = 1
        tally[i, Y_SHED] += 1
        if log[line, D_EVENT] > inst[i, I_NEWEST_EVENT]:
            inst[i, I_NEWEST_EVENT] = log[line, D_EVENT]
    elif log[line, D_TRIGGER] >= 0:
        take_record()
    elif log[line, D_TRIGGER] == LOG_WATERMARK:
        kind = WATERMARK
        # WEAVE if epochs
        if g[G_EPOCHS] > 0:
            note_delay(progress, i, best_ready - log[line, D_EVENT] - inst[i, I_LAG])
        # WEAVE end
        if log[line, D_EVENT] > inst[i, I_WATERMARK]:
            mark = log[line, D_EVENT]
            # WEAVE if epochs
            if g[G_EPOCHS] > 0:
                end_epoch(world, i, mark, mark + inst[i, I_LAG], t)
            # WEAVE end
            inst[i, I_WATERMARK] = mark
    # WEAVE if latencies
    elif log[line, D_TRIGGER] <= LOG_MARKER:
        take_marker()
    # WEAVE end
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
                note_latency(histogram, latency_sums, x, t - best_ready, 1)
    # WEAVE end


def delay_generator():
    """Section 5: a generator that waits for its source makes this record now, and counts the next one from here."""
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


def take_record():
    """Make a message of the record. It is the only output of this service."""
    trigger = log[line, D_TRIGGER]
    kind = RECORD
    # WEAVE if epochs
    if g[G_EPOCHS] > 0:
        note_delay(progress, i, best_ready - log[line, D_EVENT])
    # WEAVE end
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
    msg[made, M_INCARNATION] = 0
    for c in range(op[o, O_WIDTH]):
        msg[made, M_PAYLOAD + c] = log[line, D_PAYLOAD + c]
    box[BOX_FIRST] = made
    box[BOX_LAST] = made
    box[BOX_WORK] = 1
    n = 1
    if log[line, D_EVENT] > inst[i, I_NEWEST_EVENT]:
        inst[i, I_NEWEST_EVENT] = log[line, D_EVENT]


def take_marker():
    """Section 5: send a latency marker on, with its clocks."""
    kind = MARKER
    made = take_message(free, g)
    msg[made, M_KIND] = MARKER
    msg[made, M_NEXT] = -1
    msg[made, M_EVENT] = log[line, D_EVENT]
    msg[made, M_TRIGGER] = LOG_MARKER - log[line, D_TRIGGER]
    msg[made, M_CLOCK] = t
    msg[made, M_NEWEST] = best_ready
    msg[made, M_OLDEST] = log[line, D_EVENT]
    msg[made, M_INCARNATION] = 0
    box[BOX_FIRST] = made
    box[BOX_LAST] = made
