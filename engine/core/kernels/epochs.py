"""Epochs: what a source learns of the delays on the way to it, between two sweeping watermarks (docs/event-core.md, section 17)."""

from engine.core.compiler import rare
from engine.core.layout import *


def sweeps(par, at, before, mark):
    """Whether a window ends later than `before`, and not later than the watermark `mark`. at: place of the windows, -1 for none.

    The end of the log sweeps nothing: it says that there are no more records, not how far they have come.
    """
    found = False
    if at >= 0 and mark < FAR:
        for k in range(par[at + DEADLINES_COUNT]):
            end = par[at + DEADLINES_FIRST + 2 * k]
            every = par[at + DEADLINES_FIRST + 2 * k + 1]
            if (mark - end) // every > (before - end) // every:
                found = True
    return found


def note_delay(progress, i, delay_ns):
    """Source instance `i` takes in an entry of its log that came there `delay_ns` after it was made."""
    delay = min(max(delay_ns // 1000, -DELAY_MAX_US), DELAY_MAX_US)
    progress[i, PROGRESS_COUNT] += 1
    progress[i, PROGRESS_SUM] += delay
    squares = progress[i, PROGRESS_SQUARES] + delay * delay
    if squares >= SQUARES:
        squares -= SQUARES
        progress[i, PROGRESS_SQUARES_HIGH] += 1
    progress[i, PROGRESS_SQUARES] = squares


@rare
def end_epoch(world, i, mark, made, t):
    """Source instance `i` takes in the watermark `mark`, made at `made`, which will raise its own. If it sweeps, the epoch ends with it."""
    inst = world.inst
    op = world.op
    progress = world.progress
    epochs = world.epochs
    o = inst[i, I_OP]
    if sweeps(world.par, op[o, O_DEADLINES], max(inst[i, I_WATERMARK], op[o, O_START]), mark):
        kept = world.g[G_EPOCHS]
        row = progress[i, PROGRESS_FIRST] + progress[i, PROGRESS_EPOCHS] % kept
        for c in range(EPOCH_WATERMARK):
            epochs[row, c] = progress[i, c]
            progress[i, c] = 0
        epochs[row, EPOCH_WATERMARK] = mark
        epochs[row, EPOCH_MADE] = made
        epochs[row, EPOCH_TAKEN] = t
        progress[i, PROGRESS_EPOCHS] += 1


def forget_epochs(world, i):
    """The process of instance `i` is lost with its statistics."""
    progress = world.progress
    for c in range(PROGRESS_FIRST):
        progress[i, c] = 0
