"""Runs the steps of scripts/test in lanes: sequentially within a lane, lanes in parallel. A failure does not stop other steps.

Steps that belong to no lane are run by the lanes that end first: which one that is depends on the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launcher.environment import ROOT, Trouble, say

TAIL_LINES, TAIL_LINES_FAILED = 6, 400
INTERRUPTED = 130


@dataclass
class Step:
    """A command, or work in this process that raises Trouble. Its output goes to a file, whose end is printed when the step ends.

    live: show its output immediately as well. needs: requirement that this machine lacks; the step is then skipped.
    """

    name: str
    work: Sequence[object] | Callable[[], None]
    environment: Mapping[str, str] = field(default_factory=dict)
    live: bool = False
    needs: str = ""
    status: int | None = None
    took_s: float = 0.0


class Steps:
    """All steps of one call, and the directory of their output."""

    def __init__(self, report: Path) -> None:
        self.report = report
        self.all: list[Step] = []
        self._printing = threading.Lock()
        self._running: list[subprocess.Popen[Any]] = []

    def run(self, *lanes: Sequence[Step], afterwards: Sequence[Step] = ()) -> None:
        """Run these lanes until all have ended. afterwards: steps for the lanes that end first, each run once."""
        left = deque(afterwards)
        threads = [threading.Thread(target=self._lane, args=(lane, left), daemon=True) for lane in lanes]
        self.all += [*(step for lane in lanes for step in lane), *afterwards]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except KeyboardInterrupt:
            for process in self._running:
                with suppress(OSError):
                    process.terminate()
            for thread in threads:
                thread.join(10)
            raise

    def _lane(self, steps: Sequence[Step], left: deque[Step]) -> None:
        for step in steps:
            self._step(step)
        while left:
            try:
                step = left.popleft()
            except IndexError:  # the other lane took the last one
                return
            self._step(step)

    def _step(self, step: Step) -> None:
        if step.needs:
            self._say(f"--- {step.name}: left out, {step.needs}")
            return
        began_s = time.monotonic()
        log = self.report / f"{step.name.replace(' ', '-')}.log"
        if step.live:
            self._say(f"--- {step.name}")
        if callable(step.work):
            try:
                step.work()
                step.status = 0
            except Trouble as trouble:
                step.status = 1
                log.write_text(f"{trouble}\n")
        else:
            step.status = self._command(step, [str(word) for word in step.work], log)
        step.took_s = time.monotonic() - began_s
        output = log.read_text(errors="replace").splitlines() if log.is_file() else []
        shown = [] if step.live else output[-(TAIL_LINES if step.status == 0 else TAIL_LINES_FAILED) :]
        ending = "ok" if step.status == 0 else f"FAILED ({step.status})"
        self._say("\n".join([*(f"  {line}" for line in shown), f"--- {step.name}: {ending}, {step.took_s:.0f} s"]))

    def _command(self, step: Step, words: list[str], log: Path) -> int:
        environment = {**os.environ, **step.environment}
        with log.open("wb") as file:
            process = subprocess.Popen(
                words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            self._running.append(process)
            assert process.stdout is not None
            while part := os.read(process.stdout.fileno(), 1 << 16):
                file.write(part)
                if step.live:
                    with suppress(OSError):
                        sys.stdout.buffer.write(part)
                        sys.stdout.buffer.flush()
            return process.wait()

    def _say(self, text: str) -> None:
        with self._printing:
            say(text)

    @property
    def failed(self) -> list[str]:
        """Names of the steps that failed or never ended."""
        return [step.name for step in self.all if step.status != 0 and not step.needs]

    @property
    def left_out(self) -> list[str]:
        return [f"{step.name} ({step.needs})" for step in self.all if step.needs]
