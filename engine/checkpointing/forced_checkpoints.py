"""When a message forces a checkpoint before it is processed, so that none becomes useless: the rules of HMNR and of BCS.

Values that never change: every rule gives a new one, so what a checkpoint saves is the value itself. An instance

* starts with a checkpoint, and takes others when it likes;
* gives each message that it sends a piggyback;
* asks of each message, before it processes it, whether it must be forced to a checkpoint; takes it; then learns from the piggyback.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class HmnrPiggyback:
    """The sender's values of the same names at the send; shapes (n,) for n instances."""

    clock: int
    checkpoints: Words
    taken: Bools
    greater: Bools


@dataclass(frozen=True, eq=False)
class Hmnr:
    """What an instance knows of all n instances, itself included; vectors have the shape (n,).

    clock:       its Lamport clock, which counts checkpoints.
    checkpoints: how many each instance has taken, as far as it knows, the start included.
    sent_to:     to whom it has sent since its last checkpoint.
    taken:       whether a chain of messages that began behind the last known checkpoint of that instance has led here over a checkpoint.
    greater:     whether its clock is above that instance's, as far as it knows.

    `taken` and `greater` of itself are never true.

    Source: Hélary, Mostéfaoui, Netzer and Raynal 2000, "Communication-based prevention of useless checkpoints in distributed
    computations"; Siachamis 2024, 3.3.3, whose wording of the first test is too loose to be followed: it would ask for messages sent to
    the sender, whose own `greater` is never true.
    """

    instance: int
    clock: int
    checkpoints: Words
    sent_to: Bools
    taken: Bools
    greater: Bools

    @classmethod
    def start(cls, instance: int, instances: int) -> Hmnr:
        """What the instance (0 .. instances - 1) knows behind its checkpoint at the start."""
        no = np.zeros(instances, np.bool_)
        return cls(instance, 0, np.zeros(instances, np.int64), no, no, no).take_checkpoint()

    def take_checkpoint(self) -> Hmnr:
        """What a checkpoint saves, and the instance goes on with; the same whether it was forced."""
        others = np.arange(len(self.checkpoints)) != self.instance
        return replace(
            self, clock=self.clock + 1, checkpoints=self.checkpoints + ~others, sent_to=np.zeros_like(others), taken=others, greater=others
        )

    def send(self, receiver: int) -> tuple[Hmnr, HmnrPiggyback]:
        """What the instance goes on with, and what the message carries."""
        sent_to = self.sent_to.copy()
        sent_to[receiver] = True
        return replace(self, sent_to=sent_to), HmnrPiggyback(self.clock, self.checkpoints, self.taken, self.greater)

    def meets_higher_clock(self, message: HmnrPiggyback) -> bool:
        """First test: since its last checkpoint it has sent to an instance whose clock is below the message's, as far as the sender of the
        message knew. The message and what was sent then make a chain along which clocks could fall; where they never do, none closes."""
        return message.clock > self.clock and bool(np.any(self.sent_to & message.greater))

    def closes_cycle(self, message: HmnrPiggyback) -> bool:
        """Second test: a chain of messages that began behind its last checkpoint comes back with this message, over a checkpoint that
        would then be useless."""
        own = self.instance
        return bool(message.checkpoints[own] == self.checkpoints[own] and message.taken[own])

    def must_force(self, message: HmnrPiggyback, *, first_test: bool = True, second_test: bool = True) -> bool:
        """Whether the instance has to take a checkpoint before it processes the message. Without one of the tests the protocol guarantees
        nothing."""
        return (first_test and self.meets_higher_clock(message)) or (second_test and self.closes_cycle(message))

    def merge(self, message: HmnrPiggyback) -> Hmnr:
        """What the instance knows with the message, behind the checkpoint that it may have forced."""
        others = np.arange(len(self.checkpoints)) != self.instance
        greater = self.greater
        if message.clock > self.clock:
            greater = message.greater & others
        elif message.clock == self.clock:
            greater = greater & message.greater
        newer = message.checkpoints > self.checkpoints  # never its own
        as_new = others & (message.checkpoints == self.checkpoints)
        return replace(
            self,
            clock=max(self.clock, message.clock),
            checkpoints=np.where(newer, message.checkpoints, self.checkpoints),
            taken=np.where(newer, message.taken, self.taken | (as_new & message.taken)),
            greater=greater,
        )


@dataclass(frozen=True)
class Bcs:
    """One number for each instance, which its messages carry: it never goes back along a message, and grows with each checkpoint.

    Source: Briatico, Ciuffoletti and Simoncini 1984, "A distributed domino-effect free recovery algorithm"; Siachamis 2024, 3.3.3.
    """

    number: int = 0

    def take_checkpoint(self) -> Bcs:
        """What a checkpoint that no message forces saves, and the instance goes on with."""
        return Bcs(self.number + 1)

    def must_force(self, message: Bcs) -> bool:
        """message: what the sender had at the send, which is its piggyback."""
        return message.number > self.number

    def forced(self, message: Bcs) -> Bcs:
        """What the checkpoint that the message forces saves, and the instance goes on with: the message's number."""
        return message
