"""Whether a part of the lab is at work, for the health checks of containers: python -m workers.healthy web|worker|analysis|advice.

Status 0 if the web server can serve pages, or if the part has given a sign of life within the last seconds. Django is not set up, which
would take seconds each time.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import urllib.request

import redis

from webapp.messaging.advice import SHIPPED, STATE
from webapp.messaging.heartbeats import KEY, SPARK_KEY, VALID_S

STATES = {"analysis": SPARK_KEY, "advice": f"{STATE}:{SHIPPED}"}
"""By part, a key that it renews all the time, and that goes by itself."""


def is_healthy(part: str, connection: redis.Redis, host: str) -> bool:
    """worker: one of this host. analysis, advice: of the lab, which has one of each."""
    if part == "worker":
        alive = connection.zrangebyscore(KEY, time.time() - VALID_S, "+inf")
        return any(name.decode().startswith(f"{host[:40]}:") for name in alive)
    return bool(connection.exists(STATES[part]))


def serves(port: int = 8000) -> bool:
    """Whether the web server here answers that it is ready, asked under a name that it allows."""
    host = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/health/ready")
    if host not in ("", "*"):
        request.add_header("Host", host)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5) as answer:
        return bool(answer.status == 200)


def main(arguments: list[str]) -> int:
    if arguments[:1] not in (["web"], ["worker"], ["analysis"], ["advice"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if arguments[0] == "web":
            return 0 if serves() else 1
        connection = redis.Redis.from_url(os.environ.get("REDIS_URL", ""), socket_connect_timeout=2, socket_timeout=2)
        return 0 if is_healthy(arguments[0], connection, socket.gethostname()) else 1
    except (redis.RedisError, OSError, ValueError) as error:
        print(f"{arguments[0]} cannot be asked: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
