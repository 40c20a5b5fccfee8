"""The frames of a run so far, for polling: from the files, then from the stream."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

import redis

from webapp.lib.redis_connection import connection

from . import frame_files as files
from . import stream
from .stream import Entry


def frames_after(run_id: uuid.UUID, directory: Path, frame: int, limit: int) -> list[str]:
    """Return up to `limit` consecutive frames after `frame` (-1: from the first) as JSON."""
    found = files.frames_after(directory, frame, limit)
    while len(found) < limit:
        more = _in_stream(run_id, frame + len(found))
        if not more:
            break
        found += more
    return found[:limit]


def all_frames(run_id: uuid.UUID, directory: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in frames_after(run_id, directory, -1, sys.maxsize)]


def _in_stream(run_id: uuid.UUID, frame: int) -> list[str]:
    """Return the frames of the next entry after a frame; empty if there is none yet, or a gap."""
    try:
        answer = connection().xrange(stream.live_key(run_id), min=f"({stream.id_of(frame)}", count=1)
    except (redis.RedisError, OSError):
        return []
    if not answer:
        return []
    entry = Entry.read(answer[0][1])
    if entry.first > frame + 1:
        return []
    return [stream.text_of(item) for item in json.loads(entry.after(frame).frames_json)]
