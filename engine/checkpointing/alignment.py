"""How an instance aligns barriers, as rules: which channels are barred, and what waits behind them. Readable, for pages that show it; the
loop has the same in `engine.core.kernels.alignment`.

Values that never change: every rule gives a new one. An instance

* asks of each item whether it comes by a barred channel; what does is laid aside, anything else is processed;
* bars a channel when its barrier comes; with the last one it is aligned: it takes its checkpoint, and processes what it laid aside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Aligning:
    """inputs: the channels that enter an instance. barred: those whose barrier has come, in that order. aside: channel and item of what
    was passed over, in the order in which it came.

    Source: Siachamis 2024, 3.3.1, Figure 3.3.
    """

    inputs: frozenset[int]
    barred: tuple[int, ...] = ()
    aside: tuple[tuple[int, Any], ...] = ()

    @property
    def aligned(self) -> bool:
        """Whether all barriers are there. An instance that nothing enters is: it waits for nobody."""
        return len(self.barred) == len(self.inputs)

    @property
    def awaited(self) -> list[int]:
        """Channels whose barrier has not come."""
        return sorted(self.inputs - set(self.barred))

    def passes_over(self, channel: int) -> bool:
        """Whether an item of the channel belongs behind the checkpoint, and has to wait for it."""
        return channel in self.barred

    def lay_aside(self, channel: int, item: Any) -> Aligning:
        return replace(self, aside=(*self.aside, (channel, item)))

    def bar(self, channel: int) -> Aligning:
        """The channel's barrier is there. Raises ValueError if it was there already, or if the channel does not lead here."""
        if channel not in self.inputs or channel in self.barred:
            raise ValueError(f"the barrier of channel {channel} cannot come: those of channels {self.awaited} are awaited")
        return replace(self, barred=(*self.barred, channel))

    def let_in(self) -> tuple[Aligning, tuple[tuple[int, Any], ...]]:
        """Behind the checkpoint: no channel is barred, and what was laid aside is processed before anything that comes later."""
        return replace(self, barred=(), aside=()), self.aside
