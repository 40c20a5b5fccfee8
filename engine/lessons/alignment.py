"""Barrier alignment, act by act (Siachamis 2024, 3.3.1, Figure 3.3), by the rules of
`engine.checkpointing.alignment`."""

from __future__ import annotations

from engine.checkpointing.alignment import Aligning
from engine.checkpointing.recovery_line import in_flight, orphans
from engine.spec.base.problems import Refusal

from .document import Act, Case, Lesson
from .history import At, History
from .steps import NOWHERE, LessonStep, Place, Sent, Taken, Wait, listed


class AlignedHistory(History):
    """A history with one round. steps: steps so far; consecutive plain sends and receives form one step."""

    def __init__(self, lesson: Lesson, case: Case):
        super().__init__(lesson, case)
        self.aligning = [
            Aligning(frozenset(n for n, channel in enumerate(self.channels) if channel.receiver == i)) for i in range(len(self.instances))
        ]
        self.barred_since: dict[int, Place] = {}
        self.steps = [
            LessonStep(
                title="Records flow",
                text="Each row is an instance; an arrow is a record, from its send to its processing. A coordinator triggers a round "
                "at the sources. Barriers, drawn as arrows with a bar, follow the records on their channels and never overtake them.",
                act=0,
            )
        ]
        self._plain = False

    def on_send(self, message: Sent) -> None:
        channel = self.channels[message.channel]
        self._tell_plainly(f"{self.instances[channel.sender]} sends {message.name} to {self.instances[channel.receiver]}.", message.name)

    def on_receive(self, message: Sent, act: Act) -> None:
        channel = self.channels[message.channel]
        receiver, sender = self.instances[channel.receiver], self.instances[channel.sender]
        aligning = self.aligning[channel.receiver]
        if not aligning.passes_over(message.channel):
            self.process(message, message.arrived)
            self._tell_plainly(f"{receiver} processes {message.name}.", message.name)
            return
        self.aligning[channel.receiver] = aligning.lay_aside(message.channel, message)
        self._tell(
            f"{message.name} has to wait",
            f"{message.name} arrives from {sender} after its barrier. It belongs after {receiver}'s checkpoint, which waits for "
            f"{self._awaited(channel.receiver)}: {receiver} buffers it and processes it later.",
            told=(message.name,),
        )

    def on_checkpoint(self, instance: int, act: Act, at: At) -> None:
        text = f"barriers decide when {act.checkpoint} takes its checkpoint; trigger a source with 'trigger', or change shows"
        raise Refusal(text, at=(*at, "checkpoint"), value=act.checkpoint)

    def on_trigger(self, instance: int, act: Act, at: At) -> None:
        if self.aligning[instance].inputs:
            text = f"{act.trigger} has inputs, so it waits for their barriers; trigger an instance without inputs"
            raise Refusal(text, at=(*at, "trigger"), value=act.trigger)
        self._not_again(instance, (*at, "trigger"), act.trigger)
        taken = self.take(instance, act.as_, "coordinated")
        self._tell(
            f"{act.trigger} starts the round",
            f"The coordinator triggers {act.trigger}: it takes its checkpoint {taken.name} and sends {self._send_barriers(taken)}, after "
            "everything it has sent. Then it continues.",
            focus=(taken.id,),
        )

    def on_barrier(self, sender: int, receiver: int, act: Act, at: At) -> None:
        barrier = self._barrier(sender, receiver, act, at)
        name = self.instances[receiver]
        aligning = self.aligning[receiver].bar(barrier.channel)
        self.aligning[receiver] = aligning
        self.process(barrier, barrier.arrived)
        self.processed[barrier.channel] -= 1  # counters count records only
        self.barred_since[barrier.channel] = barrier.arrived
        if not aligning.aligned:
            self._tell(
                f"{name} blocks {act.barrier}",
                f"The barrier of {act.barrier} has arrived at {name}. What {act.barrier} sends after it belongs after the checkpoint, "
                f"so the channel is blocked while {name} waits for {self._awaited(receiver)}.",
                told=(barrier.name,),
            )
            return
        self._not_again(receiver, (*at, "to"), act.to)
        taken = self.take(receiver, act.as_, "coordinated")
        sent = self._send_barriers(taken)
        for channel in aligning.barred:
            since = self.barred_since.pop(channel)
            if since.at < barrier.arrived.at:
                sender, until = self.channels[channel].sender, barrier.arrived
                self.waits.append(Wait(instance=receiver, sender=sender, at=since.at, act=since.act, until=until.at, until_act=until.act))
        self.aligning[receiver], aside = aligning.let_in()
        for _, message in aside:
            self.process(message, self.place(receiver))
        only = "its only input" if len(aligning.inputs) == 1 else "the last of its inputs"
        behind = f" Then it processes its buffered records: {listed([message.name for _, message in aside])}." if aside else ""
        opened = " and unblocks its channels" if len(aligning.inputs) > 1 else ""
        self._tell(
            f"{name} is aligned",
            f"The barrier of {act.barrier}, {only}, has arrived at {name}: it takes its checkpoint {taken.name}"
            f"{f', sends {sent}' if sent else ''}{opened}.{behind}",
            focus=(taken.id,),
            told=(barrier.name, *(message.name for _, message in aside)),
        )

    def finished(self) -> list[LessonStep]:
        """Return all steps, with the outcome of the round."""
        for channel, since in sorted(self.barred_since.items()):
            ends = self.channels[channel]
            self.waits.append(Wait(instance=ends.receiver, sender=ends.sender, at=since.at, act=since.act, until=None, until_act=None))
        return [*self.steps, self._completed() if all(len(own) > 1 for own in self.taken) else self._stalled()]

    def _completed(self) -> LessonStep:
        record, line = self.record(), [1] * len(self.instances)
        wrong = orphans(record, line), in_flight(record, line)
        if wrong != ({}, {}):
            raise AssertionError(f"an aligned round has orphans and messages in flight: {wrong}")
        return LessonStep(
            title="The round is complete",
            text="Every instance has its checkpoint. No message crosses the line: none is an orphan and none is in flight, so no log is "
            "needed and no line has to be searched for. The price was paid earlier, by waiting for barriers.",
            verdict="good",
            line=self.line_ids(line),
        )

    def _stalled(self) -> LessonStep:
        without = [i for i, own in enumerate(self.taken) if len(own) == 1]
        circle = next((found for i in without if (found := self._circle(i))), [])
        names = [self.instances[i] for i in circle]
        waits = [f"{one} waits for the barrier of {other}" for one, other in zip(names, [*names[1:], *names[:1]], strict=True)]
        text = (
            f"{listed(waits)}. Each sends its own only after it has received the other's, so none can start: the round stays open forever, "
            "its channels stay blocked, and no checkpoint is usable."
            if circle
            else f"The history ends before {listed([self.instances[i] for i in without])} {'is' if len(without) == 1 else 'are'} aligned."
        )
        return LessonStep(
            title="The round stalls" if circle else "The round is still open",
            text=text,
            verdict="bad",
            aside=tuple(message.name for aligning in self.aligning for _, message in aligning.aside),
        )

    def _circle(self, instance: int) -> list[int]:
        """Return the shortest cycle of instances that wait for each other's barriers and that contains this one, or an empty list."""
        ways = [[instance]]
        reached = set()
        for way in ways:  # grows during the iteration
            for channel in self.aligning[way[-1]].awaited:
                sender = self.channels[channel].sender
                if sender == instance:
                    return way
                if sender not in reached:
                    reached.add(sender)
                    ways.append([*way, sender])
        return []

    def _send_barriers(self, taken: Taken) -> str:
        """Send barriers after a checkpoint, on every output channel of its instance. Returns what was sent, in words."""
        leaving = [n for n, channel in enumerate(self.channels) if channel.sender == taken.instance]
        for channel in leaving:
            name = f"barrier {self.instances[taken.instance]} → {self.instances[self.channels[channel].receiver]}"
            barrier = Sent(name, channel, 0, taken.place, taken.index, barrier=True)
            self.messages[name] = barrier
            self.queues[channel].append(barrier)
        if not leaving:
            return ""
        return f"a barrier to {listed([self.instances[self.channels[channel].receiver] for channel in leaving])}"

    def _barrier(self, sender: int, receiver: int, act: Act, at: At) -> Sent:
        channels = {(channel.sender, channel.receiver): n for n, channel in enumerate(self.channels)}
        if (sender, receiver) not in channels:
            text = f"no channel leads from {act.barrier} to {act.to}; add it to channels, or correct the names"
            raise Refusal(text, at=(*at, "to"), code="unknown", value=act.to)
        found = [m for m in self.messages.values() if m.barrier and m.channel == channels[sender, receiver] and m.arrived == NOWHERE]
        if not found:
            text = f"{act.barrier} has no barrier in flight to {act.to}: it sends exactly one, when it takes its checkpoint"
            raise Refusal(text, at=(*at, "barrier"), value=act.barrier)
        return self.arriving(found[0], (*at, "barrier"))

    def _not_again(self, instance: int, at: At, name: str | None) -> None:
        if self.interval(instance):
            raise Refusal(f"{name} has already taken its checkpoint; a lesson has one round", at=at, value=name)

    def _awaited(self, instance: int) -> str:
        senders = [self.instances[self.channels[channel].sender] for channel in self.aligning[instance].awaited]
        return f"the barrier{'s' * (len(senders) > 1)} of {listed(senders)}"

    def _tell(self, title: str, text: str, focus: tuple[str, ...] = (), told: tuple[str, ...] = ()) -> None:
        aside = tuple(message.name for aligning in self.aligning for _, message in aligning.aside)
        self.steps.append(LessonStep(title=title, text=text, act=self.acts, focus=focus, told=told, aside=aside))
        self._plain = False

    def _tell_plainly(self, text: str, name: str) -> None:
        """Add an act that needs no explanation; consecutive ones form one step."""
        told: tuple[str, ...] = (name,)
        if self._plain:
            before = self.steps.pop()
            text, told = f"{before.text} {text}", (*before.told, name)
        self._tell("Records flow", text, told=told)
        self._plain = True
