"""The rules of HMNR and BCS: when a message forces a checkpoint before it is processed, so that no checkpoint becomes useless.

Values are immutable; every rule returns a new one, so a checkpoint saves the value itself. An instance

* starts with a checkpoint, and takes others at any time;
* adds a piggyback to each message it sends;
* before processing a message: takes a checkpoint if the message forces one, then merges the piggyback.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class HmnrPiggyback:
    """The sender's values of the same names at send time; shapes (n,) for n instances."""

    clock: int
    checkpoints: Words
    taken: Bools
    greater: Bools


@dataclass(frozen=True, eq=False)
class Hmnr:
    """An instance's knowledge of all n instances, including itself; vectors have the shape (n,).

    clock:       its Lamport clock, which counts checkpoints.
    checkpoints: known number of checkpoints of each instance, including the initial one.
    sent_to:     instances it has sent to since its last checkpoint.
    taken:       whether a chain of messages that started after that instance's last known checkpoint has led here across a checkpoint.
    greater:     whether its clock is greater than that instance's known clock.

    `taken` and `greater` of itself are never true.

    Source: Hélary, Mostéfaoui, Netzer and Raynal 2000, "Communication-based prevention of useless checkpoints in distributed
    computations"; Siachamis 2024, 3.3.3, whose wording of the first test is too loose to implement: it would require messages sent to the
    sender, whose own `greater` is never true.
    """

    instance: int
    clock: int
    checkpoints: Words
    sent_to: Bools
    taken: Bools
    greater: Bools

    @classmethod
    def start(cls, instance: int, instances: int) -> Hmnr:
        """Return the knowledge of instance (0 .. instances - 1) after its initial checkpoint."""
        no = np.zeros(instances, np.bool_)
        return cls(instance, 0, np.zeros(instances, np.int64), no, no, no).take_checkpoint()

    def take_checkpoint(self) -> Hmnr:
        """Return the state that a checkpoint saves and the instance continues with; the same for forced checkpoints."""
        others = np.arange(len(self.checkpoints)) != self.instance
        return replace(
            self, clock=self.clock + 1, checkpoints=self.checkpoints + ~others, sent_to=np.zeros_like(others), taken=others, greater=others
        )

    def send(self, receiver: int) -> tuple[Hmnr, HmnrPiggyback]:
        """Return the instance's next state and the message's piggyback."""
        sent_to = self.sent_to.copy()
        sent_to[receiver] = True
        return replace(self, sent_to=sent_to), HmnrPiggyback(self.clock, self.checkpoints, self.taken, self.greater)

    def meets_higher_clock(self, message: HmnrPiggyback) -> bool:
        """First test: since its last checkpoint, the instance has sent to an instance whose clock is lower than the message's, as far as
        the message's sender knew. The two messages form a chain along which clocks could decrease; if clocks never decrease, no cycle
        closes."""
        return message.clock > self.clock and bool(np.any(self.sent_to & message.greater))

    def closes_cycle(self, message: HmnrPiggyback) -> bool:
        """Second test: a chain of messages that started after its last checkpoint returns with this message, across a checkpoint that would
        then become useless."""
        own = self.instance
        return bool(message.checkpoints[own] == self.checkpoints[own] and message.taken[own])

    def must_force(self, message: HmnrPiggyback, *, first_test: bool = True, second_test: bool = True) -> bool:
        """Return whether the instance must take a checkpoint before processing the message. With only one of the tests, the protocol
        guarantees nothing."""
        return (first_test and self.meets_higher_clock(message)) or (second_test and self.closes_cycle(message))

    def merge(self, message: HmnrPiggyback) -> Hmnr:
        """Return the knowledge after merging the message, after any checkpoint it forced."""
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
    """An index per instance, carried by its messages: it never decreases along a message, and grows with each checkpoint.

    Source: Briatico, Ciuffoletti and Simoncini 1984, "A distributed domino-effect free recovery algorithm"; Siachamis 2024, 3.3.3.
    """

    number: int = 0

    def take_checkpoint(self) -> Bcs:
        """Return the state that an unforced checkpoint saves and the instance continues with."""
        return Bcs(self.number + 1)

    def must_force(self, message: Bcs) -> bool:
        """Return whether the message forces a checkpoint. message: the sender's state at send time, which is its piggyback."""
        return message.number > self.number

    def forced(self, message: Bcs) -> Bcs:
        """Return the state that a forced checkpoint saves and the instance continues with: the message's number."""
        return message
