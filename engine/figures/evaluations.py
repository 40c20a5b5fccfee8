"""Evaluations of figures in a process of their own, so that whoever waits for them needs no torch and can stop at any time."""

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
from typing import Any, TextIO

from engine.spec.figure.evaluations import Evaluation, Scores

LOOK_S = 0.2
ROOT = Path(__file__).resolve().parents[2]


class EvaluationFailed(ValueError):
    """It cannot be made; the message says why and what to do."""


class Evaluations:
    """directory: of all data, where corpora, models and scores are kept. processes: that work at the same time. told: called several times
    a second with what is going on, the same words again if nothing has changed; what it raises ends the evaluation."""

    def __init__(self, directory: Path, processes: int, told: Callable[[str], None] = lambda _: None):
        self.directory, self.processes, self.told = directory, processes, told

    def __call__(self, evaluation: Evaluation) -> Scores:
        """Raises EvaluationFailed."""
        wanted = {"evaluation": evaluation.model_dump(mode="json"), "directory": str(self.directory), "processes": self.processes}
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

    def _awaited(self, lines: TextIO) -> Scores:
        said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=_read, args=(lines, said), daemon=True).start()
        doing = "starts"
        while True:
            try:
                line = said.get(timeout=LOOK_S)
            except queue.Empty:
                line = {}
            if line is None:
                raise EvaluationFailed("its process was lost, probably for lack of memory; what was done is kept, so try again")
            if "error" in line:
                raise EvaluationFailed(line["error"])
            if "scores" in line:
                return Scores.from_json(line["scores"])
            doing = line.get("told", doing)
            self.told(doing)


def _read(lines: TextIO, said: queue.Queue[dict[str, Any] | None]) -> None:
    for line in lines:
        said.put(json.loads(line))
    said.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """With all processes that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
