"""Forced checkpoints, act by act (Siachamis 2024, 3.3.3), by the rules of `engine.checkpointing.forced_checkpoints`; and the result without
forced checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod

from engine.checkpointing.forced_checkpoints import Bcs, Hmnr, HmnrPiggyback
from engine.checkpointing.recovery_line import recovery_line

from .document import Act, Case, Forcing, Lesson
from .history import At, History
from .steps import LessonStep, Sent, Table, listed


class Rule(ABC):
    """A rule for forced checkpoints, with the knowledge of all instances."""

    text: str

    @abstractmethod
    def checkpoint(self, instance: int) -> None: ...

    @abstractmethod
    def send(self, sender: int, receiver: int) -> object:
        """Return the message's piggyback."""

    @abstractmethod
    def reason(self, instance: int, message: object) -> str | None:
        """Return why the message forces a checkpoint, as a sentence; None if it does not."""

    @abstractmethod
    def force(self, instance: int, message: object) -> None: ...

    @abstractmethod
    def learn(self, instance: int, message: object) -> None: ...

    @abstractmethod
    def table(self) -> Table | None: ...


class ByHmnr(Rule):
    text = "Every message carries what its sender knows: clocks, numbers of checkpoints, and whom it has heard from across a checkpoint."

    def __init__(self, instances: tuple[str, ...]):
        self.names = instances
        self.known = [Hmnr.start(i, len(instances)) for i in range(len(instances))]

    def checkpoint(self, instance: int) -> None:
        self.known[instance] = self.known[instance].take_checkpoint()

    def send(self, sender: int, receiver: int) -> object:
        self.known[sender], piggyback = self.known[sender].send(receiver)
        return piggyback

    def reason(self, instance: int, message: object) -> str | None:
        assert isinstance(message, HmnrPiggyback)
        own, name = self.known[instance], self.names[instance]
        if own.closes_cycle(message):
            return (
                f"It belongs to a chain of messages that started with one that {name} sent after its last checkpoint, and that returns "
                f"across a checkpoint of another instance. Processed now, it would close the cycle and make that checkpoint useless "
                f"(second test: the message has taken[{name}] set, and knows of {name}'s last checkpoint)."
            )
        if own.meets_higher_clock(message):
            whom = [other for other, told, above in zip(self.names, own.sent_to, message.greater, strict=True) if told and above]
            return (
                f"It carries clock {message.clock}, but {name} is at {own.clock}. Since its last checkpoint, {name} has sent to "
                f"{listed(whom)}, whose clock is lower as far as the sender knows. Clocks could decrease along that chain, so it must not "
                "grow (first test)."
            )
        return None

    def force(self, instance: int, message: object) -> None:
        self.checkpoint(instance)

    def learn(self, instance: int, message: object) -> None:
        assert isinstance(message, HmnrPiggyback)
        self.known[instance] = self.known[instance].merge(message)

    def table(self) -> Table:
        def those(flags: object) -> str:
            return listed([name for name, flag in zip(self.names, flags, strict=True) if flag]) or "–"  # type: ignore[call-overload]

        return Table(
            columns=("Instance", "clock", "checkpoints known", "sent to", "taken", "greater"),
            rows=tuple(
                (
                    name,
                    str(own.clock),
                    ", ".join(f"{other} {count}" for other, count in zip(self.names, own.checkpoints.tolist(), strict=True)),
                    those(own.sent_to),
                    those(own.taken),
                    those(own.greater),
                )
                for name, own in zip(self.names, self.known, strict=True)
            ),
        )


class ByBcs(Rule):
    text = "Every message carries its sender's index, which grows with each unforced checkpoint."

    def __init__(self, instances: tuple[str, ...]):
        self.names = instances
        self.known = [Bcs() for _ in instances]

    def checkpoint(self, instance: int) -> None:
        self.known[instance] = self.known[instance].take_checkpoint()

    def send(self, sender: int, receiver: int) -> object:
        return self.known[sender]

    def reason(self, instance: int, message: object) -> str | None:
        assert isinstance(message, Bcs)
        if not self.known[instance].must_force(message):
            return None
        own = self.known[instance].number
        return f"It carries index {message.number}, but {self.names[instance]} is at {own} and must catch up first."

    def force(self, instance: int, message: object) -> None:
        assert isinstance(message, Bcs)
        self.known[instance] = self.known[instance].forced(message)

    def learn(self, instance: int, message: object) -> None:
        pass

    def table(self) -> Table:
        rows = tuple((name, str(own.number)) for name, own in zip(self.names, self.known, strict=True))
        return Table(columns=("Instance", "number"), rows=rows)


class Free(Rule):
    text = "Messages carry nothing and force nothing: each instance takes checkpoints at any time."

    def __init__(self, instances: tuple[str, ...]):
        pass

    def checkpoint(self, instance: int) -> None:
        pass

    def send(self, sender: int, receiver: int) -> object:
        return None

    def reason(self, instance: int, message: object) -> str | None:
        return None

    def force(self, instance: int, message: object) -> None:
        raise AssertionError("nothing forces a checkpoint")

    def learn(self, instance: int, message: object) -> None:
        pass

    def table(self) -> None:
        return None


RULES: dict[str, type[ByHmnr] | type[ByBcs] | type[Free]] = {"hmnr": ByHmnr, "bcs": ByBcs, "none": Free}


class ForcedHistory(History):
    """A history with forced checkpoints. steps: steps so far; consecutive acts that need no explanation form one step."""

    def __init__(self, lesson: Lesson, case: Case, shows: Forcing):
        super().__init__(lesson, case)
        self.rule = RULES[shows.rule](self.instances)
        self.piggybacks: dict[str, object] = {}
        text = f"{self.rule.text} The initial state counts as a checkpoint."
        self.steps = [LessonStep(title="At the start", text=text, act=0, table=self.rule.table())]
        self._plain = False

    def on_send(self, message: Sent) -> None:
        channel = self.channels[message.channel]
        self.piggybacks[message.name] = self.rule.send(channel.sender, channel.receiver)
        self._tell_plainly(f"{self.instances[channel.sender]} sends {message.name} to {self.instances[channel.receiver]}.", message.name)

    def on_receive(self, message: Sent, act: Act) -> None:
        receiver = self.channels[message.channel].receiver
        piggyback, name = self.piggybacks[message.name], self.instances[receiver]
        reason = self.rule.reason(receiver, piggyback)
        if reason is None:
            self.rule.learn(receiver, piggyback)
            self.process(message, message.arrived)
            self._tell_plainly(f"{name} processes {message.name}.", message.name)
            return
        self.rule.force(receiver, piggyback)
        taken = self.take(receiver, act.as_, "forced", message.arrived)
        message.arrived = self.place(receiver)
        self.rule.learn(receiver, piggyback)
        self.process(message, message.arrived)
        text = f"{message.name} arrives at {name}. {reason} So {name} first takes {taken.name}, then processes {message.name}."
        self._tell(f"{message.name} forces {taken.name}", text, focus=(taken.id,), told=(message.name,))

    def on_checkpoint(self, instance: int, act: Act, at: At) -> None:
        taken = self.take(instance, act.as_, "basic")
        self.rule.checkpoint(instance)
        self._tell(f"{act.checkpoint} takes {taken.name}", f"{act.checkpoint} takes its checkpoint {taken.name}.", focus=(taken.id,))

    def finished(self) -> list[LessonStep]:
        """Return all steps, with the useless checkpoints at the end, and the recovery line of a loss."""
        useless = self.useless()
        names = [taken.name for own in self.taken for taken in own if taken.id in useless]
        found = recovery_line(self.record())
        count = found.discarded_count
        gone = tuple(self.taken[i][index].id for i, own in enumerate(self.taken) for index in range(found.checkpoints[i] + 1, len(own)))
        judged = LessonStep(
            title="Useless checkpoints" if useless else "No checkpoint is useless",
            text=f"{listed(names)} {'lies' if len(names) == 1 else 'lie'} on a cycle of messages and checkpoints (a Z-cycle): whatever "
            f"checkpoints the others take, no line contains {'it, and it was' if len(names) == 1 else 'them, and they were'} taken in vain."
            if useless
            else "No checkpoint lies on a cycle of messages and checkpoints (a Z-cycle): each can be part of a consistent line.",
            verdict="bad" if useless else "good",
            useless=tuple(useless),
        )
        lost = LessonStep(
            title="If all were lost now",
            text=f"The recovery line would be {listed(self.line_names(found.checkpoints))}: "
            f"{'nothing is' if not count else '1 checkpoint is' if count == 1 else f'{count} checkpoints are'} discarded.",
            line=self.line_ids(found.checkpoints),
            discarded=gone,
            useless=tuple(useless),
        )
        return [*self.steps, judged, lost]

    def _tell(self, title: str, text: str, focus: tuple[str, ...] = (), told: tuple[str, ...] = ()) -> None:
        self.steps.append(LessonStep(title=title, text=text, act=self.acts, focus=focus, told=told, table=self.rule.table()))
        self._plain = False

    def _tell_plainly(self, text: str, name: str) -> None:
        """Add an act that needs no explanation; consecutive ones form one step."""
        told: tuple[str, ...] = (name,)
        if self._plain:
            before = self.steps.pop()
            text, told = f"{before.text} {text}", (*before.told, name)
        self._tell("Messages", text, told=told)
        self._plain = True
