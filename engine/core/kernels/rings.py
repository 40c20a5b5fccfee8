"""Rings of arrivals, sorted by time and tie."""

from engine.core.compiler import rare
from engine.core.layout import *


def ring_before(time_a, tie_a, time_b, tie_b):
    return time_a < time_b or (time_a == time_b and tie_a < tie_b)


def ring_insert(ring, r, head, tail, time, tie, slot):
    """Put an item into ring `r` (sorted from head to tail), from the back: nearly always the last place."""
    mask = ring.shape[1] - 1
    at = tail
    while at > head:
        q = (at - 1) & mask
        if not ring_before(time, tie, ring[r, q, RING_TIME], ring[r, q, RING_TIE]):
            break
        p = at & mask
        ring[r, p, RING_TIME] = ring[r, q, RING_TIME]
        ring[r, p, RING_TIE] = ring[r, q, RING_TIE]
        ring[r, p, RING_MESSAGE] = ring[r, q, RING_MESSAGE]
        at -= 1
    p = at & mask
    ring[r, p, RING_TIME] = time
    ring[r, p, RING_TIE] = tie
    ring[r, p, RING_MESSAGE] = slot


@rare
def ring_sort(ring, scratch, r, head, middle, tail):
    """Sort the tail [middle, tail) of ring `r` and merge it into the sorted part [head, middle)."""
    mask = ring.shape[1] - 1
    n = tail - middle
    if n <= 32:
        for at in range(middle, tail):
            p = at & mask
            ring_insert(ring, r, head, at, ring[r, p, RING_TIME], ring[r, p, RING_TIE], ring[r, p, RING_MESSAGE])
        return
    # bottom-up merge sort of the tail between two halves of the scratch, then one merge from the back
    for k in range(n):
        p = (middle + k) & mask
        for c in range(3):
            scratch[0, k, c] = ring[r, p, c]
    side = 0
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            a = low
            a_end = min(low + width, n)
            b = a_end
            b_end = min(low + 2 * width, n)
            for k in range(low, b_end):
                take_b = a >= a_end or (
                    b < b_end
                    and ring_before(
                        scratch[side, b, RING_TIME], scratch[side, b, RING_TIE], scratch[side, a, RING_TIME], scratch[side, a, RING_TIE]
                    )
                )
                x = b if take_b else a
                for c in range(3):
                    scratch[1 - side, k, c] = scratch[side, x, c]
                if take_b:
                    b += 1
                else:
                    a += 1
        side = 1 - side
        width *= 2
    a = middle - 1
    b = n - 1
    at = tail - 1
    while b >= 0:
        p = at & mask
        q = a & mask
        if a >= head and ring_before(scratch[side, b, RING_TIME], scratch[side, b, RING_TIE], ring[r, q, RING_TIME], ring[r, q, RING_TIE]):
            for c in range(3):
                ring[r, p, c] = ring[r, q, c]
            a -= 1
        else:
            for c in range(3):
                ring[r, p, c] = scratch[side, b, c]
            b -= 1
        at -= 1
