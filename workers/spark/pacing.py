"""Input of a real Spark at the pace of the experiment's logs: files appear when their time has come, whatever Spark does meanwhile."""

from __future__ import annotations

import json
import threading
import time
from bisect import bisect_right
from pathlib import Path

from engine.export import files_read

SLICE_NS = 100_000_000
"""A file has what a log got in so much time, and appears at the end of it."""
FILES_MAX = 1_000_000
"""Of a micro-batch: whatever has come."""
AT_ONCE_MS = 0
"""Trigger interval: a micro-batch follows as soon as there is something to do."""
SETTINGS = {
    # which micro-batch read and wrote each file stands in Spark's logs of files
    "spark.sql.streaming.fileSink.log.deletion": "false",
    "spark.sql.streaming.fileSource.log.deletion": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


class Pace:
    """Lets files appear, from `start` to `stop`, in a thread of its own.

    The time of the logs goes on while nobody lets them appear, as when a worker has died; not while the execution is paused. It begins
    with a multiple of the trigger interval on Spark's clock, as in the model.
    """

    def __init__(self, directory: Path, trigger_ms: int = AT_ONCE_MS):
        self.directory, self.trigger_ms = directory, trigger_ms
        self.last = max((file.stem for file in directory.glob("coming/*/*.parquet")), default="")
        self._file = directory / "pace.json"
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._stopped_s = 0.0
        self._began: list[tuple[float, float]] = []  # Unix times, and the times of the logs then, in s

    @property
    def interval(self) -> str:
        """As Spark has it."""
        return f"{self.trigger_ms} milliseconds"

    def start(self) -> None:
        told = json.loads(self._file.read_text()) if self._file.exists() else {"began": [], "paused_s": 0.0}
        self._began = [(unix_s, log_s) for unix_s, log_s in told["began"]]
        if told["paused_s"] is not None:
            interval_s = self.trigger_ms / 1000
            now_s = time.time()
            self._began.append((-(-now_s // interval_s) * interval_s if interval_s else now_s, told["paused_s"]))
            self._tell(None)
        self._thread = threading.Thread(target=self._feed, name="pace", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._stopped_s = time.time()

    def pause(self) -> None:
        """From when it was stopped the time of the logs stands still, until the next start."""
        if self._thread is not None:
            self._tell(self.log_s(self._stopped_s))

    @property
    def has_ended(self) -> bool:
        """All files have appeared."""
        return self._thread is not None and not self._thread.is_alive() and not self._stopped.is_set()

    def log_s(self, unix_s: float) -> float:
        """The time of the logs at a Unix time; 0 before they begin."""
        at = bisect_right(self._began, unix_s, key=lambda began: began[0]) - 1
        if at < 0:
            return 0.0
        began_s, log_s = self._began[at]
        return log_s + unix_s - began_s

    def is_read(self, sink: str) -> bool:
        """Whether micro-batches with all files have been committed."""
        checkpoint = self.directory / "checkpoints" / sink
        streams = files_read(checkpoint)
        committed = max((int(path.name) for path in (checkpoint / "commits").glob("[0-9]*")), default=-1)
        ends = [of_stream.get(f"{self.last}.parquet", committed + 1) for of_stream in streams.values()]
        return bool(ends) and max(ends) <= committed

    def _feed(self) -> None:
        unix_s, log_s = self._began[-1]
        for file in sorted(self.directory.glob("coming/*/*.parquet"), key=lambda file: (file.stem, file.parent.name)):
            due_s = unix_s + (int(file.stem) + 1) * SLICE_NS / 1e9 - log_s
            if self._stopped.wait(max(0.0, due_s - time.time())):
                return
            file.rename(self.directory / "input" / file.parent.name / file.name)

    def _tell(self, paused_s: float | None) -> None:
        unfinished = self._file.with_suffix(".part")
        unfinished.write_text(json.dumps({"began": self._began, "paused_s": paused_s}))
        unfinished.replace(self._file)
