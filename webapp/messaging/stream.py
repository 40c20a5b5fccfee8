"""The Redis streams of a run.

`live:<run>` holds the frames, several per entry. The id of an entry is `<last frame + 1>-0`. A reader that has seen frame N therefore
reads above `<N + 1>-0` and needs no other state, and Redis refuses frames that a restarted worker recomputes.
`state:<run>` only signals that the run's row has changed; the row is authoritative. `news` signals the same for every run, experiment,
question, study and reproduction of the installation.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from webapp.lib.afterwards import later

LIVE_ENTRIES_MAX = 20_000
ENTRY_BYTES_MAX = 512 * 1024  # a browser parses this much without a noticeable pause
STATE_ENTRIES_MAX = 100
NEWS_KEY, NEWS_ENTRIES_MAX = "news", 1000
KEEP_AFTER_END_S = 3600  # afterwards the files have everything


def live_key(run_id: uuid.UUID | str) -> str:
    return f"live:{run_id}"


def state_key(run_id: uuid.UUID | str) -> str:
    return f"state:{run_id}"


def id_of(last_frame: int) -> str:
    """Return the id of the entry that ends with this frame; reading above it gives everything after that frame (-1: all)."""
    return f"{last_frame + 1}-0"


@dataclass(frozen=True)
class Entry:
    """Consecutive frames, `first` to `last`, as a JSON array. `at_s`: Unix time at which the worker sent them."""

    first: int
    last: int
    at_s: float
    frames_json: str

    @classmethod
    def read(cls, fields: Mapping[bytes, bytes]) -> Entry:
        return cls(int(fields[b"first"]), int(fields[b"last"]), float(fields[b"at_s"]), fields[b"frames"].decode())

    def fields(self) -> dict[Any, Any]:
        return {"first": self.first, "last": self.last, "at_s": f"{self.at_s:.6f}", "frames": self.frames_json}

    def after(self, frame: int) -> Entry:
        """Return the part after a frame."""
        if frame < self.first:
            return self
        rest = json.loads(self.frames_json)[frame + 1 - self.first :]
        return Entry(frame + 1, self.last, self.at_s, json.dumps(rest, separators=(",", ":")))


def text_of(frame: Mapping[str, Any]) -> str:
    return json.dumps(frame, separators=(",", ":"), allow_nan=False)


def pack(first: int, texts: Sequence[str], at_s: float = 0.0) -> Iterator[Entry]:
    """Pack consecutive frames, starting with number `first`, into as few entries as their size allows."""
    start, size_bytes = 0, 0
    for index, text in enumerate(texts):
        if index > start and size_bytes + len(text) > ENTRY_BYTES_MAX:
            yield Entry(first + start, first + index - 1, at_s, f"[{','.join(texts[start:index])}]")
            start, size_bytes = index, 0
        size_bytes += len(text)
    if texts:
        yield Entry(first + start, first + len(texts) - 1, at_s, f"[{','.join(texts[start:])}]")


def publish(connection: redis.Redis, run_id: uuid.UUID | str, entry: Entry) -> bool:
    """Append the entry. Returns False if its frames are already in the stream. Raises redis.RedisError or OSError if Redis is
    unreachable."""
    try:
        connection.xadd(live_key(run_id), entry.fields(), id=id_of(entry.last), maxlen=LIVE_ENTRIES_MAX, approximate=True)
    except redis.ResponseError as error:
        if "equal or smaller" in str(error):
            return False
        raise
    return True


def announce(connection: redis.Redis, run_id: uuid.UUID | str, *, ended: bool = False) -> None:
    """Signal viewers that the run's row has changed. Without Redis, they notice it a little later."""
    later(partial(_announce, connection, run_id, ended))


def _announce(connection: redis.Redis, run_id: uuid.UUID | str, ended: bool) -> None:
    with contextlib.suppress(redis.RedisError, OSError), connection.pipeline(transaction=False) as pipeline:
        pipeline.xadd(state_key(run_id), {"changed": 1}, maxlen=STATE_ENTRIES_MAX, approximate=True)
        pipeline.xadd(NEWS_KEY, {"run": str(run_id)}, maxlen=NEWS_ENTRIES_MAX, approximate=True)
        if ended:
            pipeline.expire(live_key(run_id), KEEP_AFTER_END_S)
            pipeline.expire(state_key(run_id), KEEP_AFTER_END_S)
        pipeline.execute()


def announce_row(connection: redis.Redis, kind: str, id: uuid.UUID | str) -> None:
    """Signal viewers that a row has changed. kind: "experiment", "question" (waterfalls), "study", "reproduction" (of a figure),
    "analysis" (over many runs), "learning" (of models), "spark_run" (a run's query on Spark) or "calibration" (of the machine)."""
    later(partial(_tell, connection, {kind: str(id)}))


def announce_lists(connection: redis.Redis, lab_id: int) -> None:
    """Signal viewers of a lab that its lists of runs or their tags may have changed."""
    later(partial(_tell, connection, {"lists": str(lab_id)}))


def _tell(connection: redis.Redis, what: dict[Any, Any]) -> None:
    with contextlib.suppress(redis.RedisError, OSError):
        connection.xadd(NEWS_KEY, what, maxlen=NEWS_ENTRIES_MAX, approximate=True)
