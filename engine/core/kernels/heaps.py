"""Heaps of a host: of times with whoever is due then, and of turns."""

from engine.core.layout import *


def heap_push(heap, base, size, key, who):
    """Put (key, who) into the heap of `size` items from row `base` on; least key first, then least who."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if heap[base + up, DUE_KEY] < key or (heap[base + up, DUE_KEY] == key and heap[base + up, DUE_WHO] < who):
            break
        heap[base + at, DUE_KEY] = heap[base + up, DUE_KEY]
        heap[base + at, DUE_WHO] = heap[base + up, DUE_WHO]
        at = up
    heap[base + at, DUE_KEY] = key
    heap[base + at, DUE_WHO] = who


def heap_pop(heap, base, size):
    """Take the first item away; size: before."""
    end = size - 1
    key = heap[base + end, DUE_KEY]
    who = heap[base + end, DUE_WHO]
    at = 0
    down = 1
    while down < end:
        if down + 1 < end and (
            heap[base + down + 1, DUE_KEY] < heap[base + down, DUE_KEY]
            or (
                heap[base + down + 1, DUE_KEY] == heap[base + down, DUE_KEY] and heap[base + down + 1, DUE_WHO] < heap[base + down, DUE_WHO]
            )
        ):
            down += 1
        if key < heap[base + down, DUE_KEY] or (key == heap[base + down, DUE_KEY] and who < heap[base + down, DUE_WHO]):
            break
        heap[base + at, DUE_KEY] = heap[base + down, DUE_KEY]
        heap[base + at, DUE_WHO] = heap[base + down, DUE_WHO]
        at = down
        down = 2 * at + 1
    heap[base + at, DUE_KEY] = key
    heap[base + at, DUE_WHO] = who


def turn_before(turns, a, b):
    if turns[a, TURN_RANK] != turns[b, TURN_RANK]:
        return turns[a, TURN_RANK] < turns[b, TURN_RANK]
    return turns[a, TURN_READY] < turns[b, TURN_READY] or (
        turns[a, TURN_READY] == turns[b, TURN_READY] and turns[a, TURN_WHO] < turns[b, TURN_WHO]
    )


def turn_swap(turns, a, b):
    for c in range(3):
        word = turns[a, c]
        turns[a, c] = turns[b, c]
        turns[b, c] = word


def turn_push(turns, base, size, rank, ready, who):
    """Put an instance into the heap of `size` turns from row `base` on: least rank first, then least ready time, then least who."""
    at = base + size
    turns[at, TURN_RANK] = rank
    turns[at, TURN_READY] = ready
    turns[at, TURN_WHO] = who
    while at > base:
        up = base + ((at - base - 1) >> 1)
        if not turn_before(turns, at, up):
            break
        turn_swap(turns, at, up)
        at = up


def turn_pop(turns, base, size):
    """Take the first turn away; size: before."""
    end = base + size - 1
    turn_swap(turns, base, end)
    at = base
    down = base + 1
    while down < end:
        if down + 1 < end and turn_before(turns, down + 1, down):
            down += 1
        if turn_before(turns, at, down):
            break
        turn_swap(turns, at, down)
        at = down
        down = base + 2 * (at - base) + 1
