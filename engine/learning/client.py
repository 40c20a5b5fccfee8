"""Learning in a process of its own (`engine.learning.process`), so that whoever waits for it needs no torch and can stop at any time."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Literal

from engine.spec.figure.evaluations import Evaluation, Scores

LOOK_S = 0.2
ROOT = Path(__file__).resolve().parents[2]

Kind = Literal["evaluation", "corpus", "models"]


class LearningFailed(ValueError):
    """It cannot be done; the message says why and what to do."""


class Client:
    """directory: of all data, where corpora, models and scores are kept. processes: that work at the same time. told: called several times
    a second with what is going on, the same words again if nothing has changed; what it raises ends the work."""

    def __init__(self, directory: Path, processes: int, told: Callable[[str], None] = lambda _: None):
        self.directory, self.processes, self.told = directory, processes, told

    def evaluate(self, evaluation: Evaluation) -> Scores:
        """Raises LearningFailed."""
        return Scores.from_json(self.ask("evaluation", evaluation.model_dump(mode="json")))

    def ask(self, kind: Kind, request: dict[str, Any]) -> Any:
        """What `engine.learning.process` answers. Raises LearningFailed."""
        wanted = {"kind": kind, "request": request, "directory": str(self.directory), "processes": self.processes}
        with subprocess.Popen(
            [sys.executable, "-m", "engine.learning.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        ) as process:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(f"{json.dumps(wanted)}\n")
                process.stdin.close()
                return self._awaited(process.stdout)
            finally:
                _end(process)

    def _awaited(self, lines: IO[str]) -> Any:
        said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=_read, args=(lines, said), daemon=True).start()
        doing = "starts"
        while True:
            try:
                line = said.get(timeout=LOOK_S)
            except queue.Empty:
                line = {}
            if line is None:
                raise LearningFailed("its process was lost, probably for lack of memory; what was done is kept, so try again")
            if "error" in line:
                raise LearningFailed(line["error"])
            if "answer" in line:
                return line["answer"]
            doing = line.get("told", doing)
            self.told(doing)


def _read(lines: IO[str], said: queue.Queue[dict[str, Any] | None]) -> None:
    for line in lines:
        said.put(json.loads(line))
    said.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """With all processes that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
