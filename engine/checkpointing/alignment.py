"""The rules by which an instance aligns barriers: which channels are blocked, and which items wait. A readable version, for pages that show
it; the event loop implements the same rules in `engine.core.kernels.alignment`.

Values are immutable; every rule returns a new one. An instance

* buffers each item that arrives on a blocked channel, and processes all others;
* blocks a channel when its barrier arrives; with the last barrier it is aligned: it takes its checkpoint and processes its buffer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Aligning:
    """inputs: input channels of an instance. barred: channels whose barrier has arrived, in order of arrival. aside: channel and item of
    everything buffered, in order of arrival.

    Source: Siachamis 2024, 3.3.1, Figure 3.3.
    """

    inputs: frozenset[int]
    barred: tuple[int, ...] = ()
    aside: tuple[tuple[int, Any], ...] = ()

    @property
    def aligned(self) -> bool:
        """Whether all barriers have arrived. An instance without inputs is always aligned."""
        return len(self.barred) == len(self.inputs)

    @property
    def awaited(self) -> list[int]:
        """Channels whose barrier has not arrived."""
        return sorted(self.inputs - set(self.barred))

    def passes_over(self, channel: int) -> bool:
        """Return whether an item of the channel belongs after the checkpoint and must wait."""
        return channel in self.barred

    def lay_aside(self, channel: int, item: Any) -> Aligning:
        return replace(self, aside=(*self.aside, (channel, item)))

    def bar(self, channel: int) -> Aligning:
        """Handle the channel's barrier. Raises ValueError if it had already arrived, or if the channel is not an input."""
        if channel not in self.inputs or channel in self.barred:
            raise ValueError(f"unexpected barrier on channel {channel}; barriers are awaited on channels {self.awaited}")
        return replace(self, barred=(*self.barred, channel))

    def let_in(self) -> tuple[Aligning, tuple[tuple[int, Any], ...]]:
        """After the checkpoint: unblock all channels, and return the buffered items, to be processed before any later ones."""
        return replace(self, barred=(), aside=()), self.aside
