"""Runs of figures, kept in files until their command has ended, so that a command that was stopped can go on (docs/figures.md)."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from pathlib import Path

from engine.prices import version_for
from engine.studies import Trial

from .execution import Made


class KeptRuns:
    """Runs in a directory, a file for each, by document, seed, and version of the engine with its prices. Two commands may share it.

    Runs whose records a figure needs are not kept: they are few.
    """

    def __init__(self, directory: Path):
        self.directory = directory
        self.used: set[Path] = set()

    def path(self, trial: Trial) -> Path:
        document = trial.document
        about = json.dumps([trial.key, version_for(document)])
        return self.directory / f"{hashlib.sha256(about.encode()).hexdigest()[:32]}.run"

    def get(self, trial: Trial) -> Made | None:
        """The run, or None if there is none. A file that is not whole counts as none."""
        path = self.path(trial)
        try:
            head, _, frames = path.read_bytes().partition(b"\n")
            told = json.loads(zlib.decompress(bytes.fromhex(head.decode())))
            made = Made(told["summary"], frames, failure=told["failure"])
            if len(frames) != told["frames_bytes"]:
                return None
        except (OSError, ValueError, KeyError, zlib.error):
            return None
        self.used.add(path)
        return made

    def put(self, trial: Trial, made: Made) -> None:
        """As a whole, or not at all. Raises OSError."""
        if made.records:
            return
        path = self.path(trial)
        told = {"summary": made.summary, "failure": made.failure, "frames_bytes": len(made.packed_frames)}
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            written.write_bytes(zlib.compress(json.dumps(told).encode(), 1).hex().encode() + b"\n" + made.packed_frames)
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
        self.used.add(path)

    def forget(self) -> None:
        """Delete what was read or written: the command has ended."""
        for path in self.used:
            path.unlink(missing_ok=True)
        self.used.clear()
