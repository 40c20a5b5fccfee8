"""Latencies of delivered records (docs/event-core.md, section 8): histograms, and the clocks that rows carry as stamps."""

from engine.core.layout import *


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


def note_latency(histogram, latency_sums, x, delay_ns, count):
    """Count a delivery of so many records under row `x`: of a sink and a measure."""
    histogram[x, latency_bucket(delay_ns)] += count
    latency_sums[x, SUM_COUNT] += count
    latency_sums[x, SUM_TOTAL_NS] += delay_ns * count
    if delay_ns > latency_sums[x, SUM_MAX_NS]:
        latency_sums[x, SUM_MAX_NS] = delay_ns


def copy_stamps(to, a, of, b, stamps):
    """Row `a` of a table takes over the stamps of row `b` of another (messages, stored rows or entries)."""
    for k in range(1, stamps + 1):
        to[a, to.shape[1] - k] = of[b, of.shape[1] - k]


def join_stamps(to, a, of, b, g, stamps, how):
    """The contributors of row `b` of a table count for row `a` of another, too. how: PAIRED, ADDED (b's trigger becomes that of a) or
    MERGED."""
    for k in range(stamps):
        value = of[b, of.shape[1] - 1 - k]
        c = to.shape[1] - 1 - k
        anchor = g[G_STAMP_ANCHOR + k]
        if anchor == M_NEWEST or (anchor == MIXED and how != PAIRED):
            to[a, c] = max(to[a, c], value)
        elif anchor != M_CLOCK:
            to[a, c] = min(to[a, c], value)
        elif how == ADDED:
            to[a, c] = value
