"""The document of a lesson on continuous eventual checkpointing (docs/incremental-checkpointing.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.spec.base.problems import Refusal

from .document import CaseHead, LessonHead, Name, OneVerb


class OutputLogAct(OneVerb):
    """One act: a tuple comes for a window, which opens with its first one; a window closes and gives its result; the operator crashes, and
    finds its windows in its output log; it processes again what it has to."""

    VERBS = ("tuple", "close", "crash", "replay")

    tuple: Name | None = Field(default=None, description="window that the tuple belongs to")
    close: Name | None = Field(default=None, description="window that gives its result")
    crash: Literal[True] | None = None
    replay: Literal[True] | None = None


class OutputLogCase(CaseHead):
    """records_max: records that a recovery may read. replay_max: acts of the input that it may process again. None: any number."""

    records_max: int | None = Field(default=None, ge=1, le=100)
    replay_max: int | None = Field(default=None, ge=1, le=100)
    acts: tuple[OutputLogAct, ...] = Field(min_length=1, max_length=40)

    @model_validator(mode="after")
    def _is_possible(self) -> OutputLogCase:
        open_windows: set[str] = set()
        closed: set[str] = set()
        crashed = False
        for n, act in enumerate(self.acts):
            if crashed and (act.tuple or act.close):
                message = f"{act.verb} follows a crash, but the input goes on from where the windows were; put replay before it"
                raise Refusal(message, at=("acts", n), code="no_replay", value=act.verb)
            crashed = act.verb == "crash" or (crashed and act.verb != "replay")
            if act.tuple:
                if act.tuple in closed:
                    message = f"window '{act.tuple}' has closed already; give the next one another name"
                    raise Refusal(message, at=("acts", n, "tuple"), code="closed", value=act.tuple)
                open_windows.add(act.tuple)
                if self.records_max is not None and len(open_windows) > self.records_max:
                    message = f"records_max is {self.records_max}, but {len(open_windows)} windows are open here; allow more, or close one"
                    raise Refusal(message, at=("records_max",), code="infeasible", value=self.records_max)
            elif act.close:
                if act.close not in open_windows:
                    raise Refusal(f"window '{act.close}' is not open here", at=("acts", n, "close"), code="not_open", value=act.close)
                open_windows.remove(act.close)
                closed.add(act.close)
        return self


class OutputLogLesson(LessonHead):
    kind: Literal["output_log"]
    cases: tuple[OutputLogCase, ...] = Field(min_length=1, max_length=10)
