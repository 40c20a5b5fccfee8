"""Heaps of a host: of times with whoever is due then, and of turns."""


def heap_push(heap, base, size, key, who):
    """Put (key, who) into the heap of `size` items from row `base` on; least key first, then least who."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if heap[base + up, 0] < key or (heap[base + up, 0] == key and heap[base + up, 1] < who):
            break
        heap[base + at, 0] = heap[base + up, 0]
        heap[base + at, 1] = heap[base + up, 1]
        at = up
    heap[base + at, 0] = key
    heap[base + at, 1] = who


def heap_pop(heap, base, size):
    """Take the first item away; size: before."""
    end = size - 1
    key = heap[base + end, 0]
    who = heap[base + end, 1]
    at = 0
    down = 1
    while down < end:
        if down + 1 < end and (
            heap[base + down + 1, 0] < heap[base + down, 0]
            or (heap[base + down + 1, 0] == heap[base + down, 0] and heap[base + down + 1, 1] < heap[base + down, 1])
        ):
            down += 1
        if key < heap[base + down, 0] or (key == heap[base + down, 0] and who < heap[base + down, 1]):
            break
        heap[base + at, 0] = heap[base + down, 0]
        heap[base + at, 1] = heap[base + down, 1]
        at = down
        down = 2 * at + 1
    heap[base + at, 0] = key
    heap[base + at, 1] = who


def turn_before(turns, a, b):
    if turns[a, 0] != turns[b, 0]:
        return turns[a, 0] < turns[b, 0]
    return turns[a, 1] < turns[b, 1] or (turns[a, 1] == turns[b, 1] and turns[a, 2] < turns[b, 2])


def turn_swap(turns, a, b):
    for c in range(3):
        word = turns[a, c]
        turns[a, c] = turns[b, c]
        turns[b, c] = word


def turn_push(turns, base, size, rank, ready, who):
    """Put an instance into the heap of `size` turns from row `base` on: least rank first, then least ready time, then least who."""
    at = base + size
    turns[at, 0] = rank
    turns[at, 1] = ready
    turns[at, 2] = who
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
