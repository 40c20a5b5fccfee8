"""The document of a lesson: a history of messages and checkpoints, and what to show of it (docs/checkpointing.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion

NAME = r"^[A-Za-z][A-Za-z0-9_<>,. ]{0,19}$"
Name = Annotated[str, Field(pattern=NAME, description="a letter, and up to 19 letters, digits, spaces or any of _ < > , .")]


class LessonHead(Model):
    """What every kind of lesson says of itself. figure: number of the paper's figure that it follows."""

    title: str = Field(min_length=1, max_length=100)
    group: str = Field(default="Scheduling", max_length=40)
    figure: str = Field(default="", max_length=20)
    source: str = Field(default="", max_length=200)
    text: str = Field(min_length=1, max_length=2000)


class CaseHead(Model):
    name: str = Field(min_length=1, max_length=60)
    text: str = Field(default="", max_length=1000)


def refuse_twice(what: str, names: Sequence[str], *at: str | int, field: str | None = None) -> None:
    """Raise Refusal for a name that occurs twice. at: place of the list. field: of its items that holds the name."""
    for n, name in enumerate(names):
        if name in names[:n]:
            place = (*at, n) if field is None else (*at, n, field)
            raise Refusal(f"{what} '{name}' occurs twice; give each its own name", at=place, code="twice", value=name)


class OneVerb(Model):
    """One act of a story, given by exactly one of its verbs."""

    VERBS: ClassVar[tuple[str, ...]]

    @property
    def verb(self) -> str:
        return next(verb for verb in self.VERBS if getattr(self, verb) is not None)

    @model_validator(mode="after")
    def _is_one_thing(self) -> OneVerb:
        verbs = [verb for verb in self.VERBS if getattr(self, verb) is not None]
        if len(verbs) != 1:
            found = f"both {' and '.join(verbs)}" if verbs else "none of them"
            message = f"an act needs exactly one verb of {', '.join(self.VERBS)}; this one has {found}"
            raise Refusal(message, code="no_act", value=" ".join(verbs))
        return self


class Act(OneVerb):
    """One act, given by one verb: `send` a message `from` an instance `to` another; `receive` a message;
    `checkpoint` an instance (`as`: its name); `trigger` a source, which takes its checkpoint and sends barriers; the `barrier` of an
    instance arrives at another (`to`)."""

    VERBS = ("send", "receive", "checkpoint", "trigger", "barrier")

    send: Name | None = Field(default=None, description="name of a message")
    receive: Name | None = Field(default=None, description="name of a message that was sent")
    checkpoint: Name | None = Field(default=None, description="instance that takes one")
    trigger: Name | None = Field(default=None, description="instance that begins a round")
    barrier: Name | None = Field(default=None, description="instance whose barrier arrives")
    from_: Name | None = Field(default=None, alias="from", description="instance that sends")
    to: Name | None = Field(default=None, description="instance that receives")
    as_: Name | None = Field(default=None, alias="as", description="name of the checkpoint")

    @model_validator(mode="after")
    def _has_what_it_takes(self) -> Act:
        takes = {"send": {"from": self.from_, "to": self.to}, "barrier": {"to": self.to}}.get(self.verb, {})
        for field, value in takes.items():
            if value is None:
                raise Refusal(f"{self.verb} needs '{field}', an instance; add it", at=(field,), code="missing")
        may = {*takes, "as"} if self.verb in ("checkpoint", "trigger", "barrier", "receive") else set(takes)
        for field, value in (("from", self.from_), ("to", self.to), ("as", self.as_)):
            if value is not None and field not in may:
                raise Refusal(f"{self.verb} takes no '{field}'; remove it", at=(field,), code="unexpected", value=value)
        return self


class JudgedLine(Model):
    """A candidate line. checkpoints: by instance; default: the start. stored: in-flight messages that were stored with it."""

    name: str = Field(default="", max_length=60)
    checkpoints: dict[Name, Name]
    stored: tuple[Name, ...] = Field(default=(), max_length=100)


class Lines(Model):
    """Judge lines: is each consistent, given the stored in-flight messages?"""

    kind: Literal["lines"] = "lines"
    lines: tuple[JudgedLine, ...] = Field(min_length=1, max_length=10)


class Rollback(Model):
    """Find the recovery line by rollback propagation on the checkpoint graph."""

    kind: Literal["rollback"] = "rollback"


class Alignment(Model):
    """Align barriers at the instances."""

    kind: Literal["alignment"] = "alignment"


class Forcing(Model):
    """Messages carry their senders' knowledge and force checkpoints (hmnr, bcs), or not (none). Useless checkpoints are marked at the
    end."""

    kind: Literal["forcing"] = "forcing"
    rule: Literal["hmnr", "bcs", "none"]


Shows = Annotated[Lines | Rollback | Alignment | Forcing, Field(discriminator="kind")]


class Case(CaseHead):
    """A case: its own history or the lesson's, optionally without some messages, and what to show of it."""

    history: tuple[Act, ...] | None = Field(default=None, min_length=1, max_length=200)
    without: tuple[Name, ...] = Field(default=(), max_length=100, description="messages that are not sent")
    shows: Shows


class Lesson(LessonHead):
    """instances: rows of the diagram, from the top. channels: sender and receiver of each. Channels with messages may be left out, so only
    alignment needs to list others."""

    kind: Literal["history"] = "history"
    group: str = Field(default="Checkpoints", max_length=40)
    instances: tuple[Name, ...] = Field(min_length=1, max_length=12)
    channels: tuple[tuple[Name, Name], ...] = Field(default=(), max_length=100)
    history: tuple[Act, ...] = Field(default=(), max_length=200)
    cases: tuple[Case, ...] = Field(min_length=1, max_length=10)

    def acts(self, case: Case) -> list[tuple[tuple[str | int, ...], Act]]:
        """Return the acts of a case, each with its place in the document."""
        place = ("history",) if case.history is None else ("cases", self.cases.index(case), "history")
        acts = [((*place, n), act) for n, act in enumerate(self.history if case.history is None else case.history)]
        return [(at, act) for at, act in acts if (act.send or act.receive) not in case.without]

    @model_validator(mode="after")
    def _names_are_there(self) -> Lesson:
        refuse_twice("instance", self.instances, "instances")
        for n, channel in enumerate(self.channels):
            for end, name in enumerate(channel):
                self._known(name, ("channels", n, end))
        for n, case in enumerate(self.cases):
            self._check(case, ("cases", n))
        return self

    def _check(self, case: Case, at: tuple[str | int, ...]) -> None:
        whole = self.history if case.history is None else case.history
        if not whole:
            raise Refusal("neither the case nor the lesson has a history; add one", at=(*at, "history"), code="missing")
        sent = {act.send for act in whole if act.send}
        for n, name in enumerate(case.without):
            if name not in sent:
                hint = suggestion(name, sent)
                raise Refusal(f"no message '{name}' is sent", at=(*at, "without", n), code="unknown", value=name, hint=hint)
        for place, act in self.acts(case):
            named = {"from": act.from_, "to": act.to, "checkpoint": act.checkpoint, "trigger": act.trigger, "barrier": act.barrier}
            for field, instance in named.items():
                if instance is not None:
                    self._known(instance, (*place, field))
        if isinstance(case.shows, Lines):
            for n, line in enumerate(case.shows.lines):
                for name in line.checkpoints:
                    self._known(name, (*at, "shows", "lines", n, "checkpoints", name))

    def _known(self, name: str, at: tuple[str | int, ...]) -> None:
        if name not in self.instances:
            hint = suggestion(name, self.instances)
            raise Refusal(f"there is no instance '{name}'", at=at, code="unknown", value=name, hint=hint)
