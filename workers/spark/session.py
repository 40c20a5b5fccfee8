"""The Spark session of this process: created on first use, kept while it is alive, and recreated after it died.

SPARK_MASTER selects the cluster; default: this machine (`local[*]`). Missing prerequisites are reported before starting Spark, which
would itself retry for minutes and end in a stack trace.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
JAVA_NEEDED = 17
LOCAL = "local[*]"
CONNECT_S, EXECUTOR_S = 3.0, 60.0
"""Timeouts for the master to respond and for the first executor to register."""


class SparkUnavailable(Exception):
    """Spark is unavailable; the message says what is missing and what to do."""


def master() -> str:
    return os.environ.get("SPARK_MASTER", "").strip() or LOCAL


class Session:
    """The Spark session, shared by threads. `get` raises SparkUnavailable while none can be created; the next call retries."""

    def __init__(self) -> None:
        self.spark: Any = None
        self.lock = threading.RLock()
        self.ended = 0
        self.alone_since_s: float | None = None  # when a cluster was first seen without executors
        self.state, self.message = "asleep", ""  # asleep, ready or unavailable; the message says what is missing
        self.cores = 0  # total over all executors when last checked; 0 before the first session

    def get(self) -> Any:
        with self.lock:
            try:
                session = self._get()
            except SparkUnavailable as why:
                self.state, self.message, self.cores = "unavailable", str(why), 0
                raise
            self.state, self.message, self.cores = "ready", "", int(session.sparkContext.defaultParallelism)
            return session

    def _get(self) -> Any:
        where = master()
        if self.spark is None or not self._alive():
            self.ended = self.deaths()
            self.close()
            check_java()
            _check_reachable(where)
            self.spark = _start(where)
        if not where.startswith("local"):
            try:
                _wait_for_executor(self.spark, where)
            except SparkUnavailable:
                self.ended += 1
                self.close()
                raise
        return self.spark

    def deaths(self) -> int:
        """Return the number of sessions that died or were given up."""
        with self.lock:
            return self.ended + (self.spark is not None and not self._alive())

    def check_executors(self) -> None:
        """Raises SparkUnavailable if a cluster has had no executor for EXECUTOR_S: work in progress would wait forever."""
        where, now_s = master(), time.monotonic()
        if where.startswith("local") or _has_executor(self.spark):
            self.alone_since_s = None
        elif self.alone_since_s is None:
            self.alone_since_s = now_s
        elif now_s - self.alone_since_s > EXECUTOR_S:
            self.alone_since_s = None
            raise SparkUnavailable(_no_executor(where))

    def close(self) -> None:
        """Stop the session, and drop it even if it no longer responds."""
        if self.spark is None:
            return
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        with contextlib.suppress(Exception):
            self.spark.stop()
        gateway = SparkContext._gateway
        if gateway is not None:
            with contextlib.suppress(Exception):
                gateway.shutdown()
            if (process := getattr(gateway, "proc", None)) is not None:
                with contextlib.suppress(Exception):
                    process.kill()
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = None
        self.spark = None

    def _alive(self) -> bool:
        try:
            return not self.spark.sparkContext._jsc.sc().isStopped()
        except Exception:
            return False


def first_line(error: BaseException) -> str:
    """Return the first line of an error, without Py4J's line about the called method."""
    lines = [line for line in str(error).strip().splitlines() if not line.startswith("An error occurred while calling")]
    return f"{type(error).__name__}: {lines[0].removeprefix(': ')[:300] if lines else 'no message'}"


def check_java() -> None:
    """Check that there is a Java new enough. Raises SparkUnavailable."""
    home = os.environ.get("JAVA_HOME", "").strip()
    java = Path(home) / "bin" / "java" if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        where = f"JAVA_HOME is {home}, which contains no bin/java" if home else "there is no java on PATH, and JAVA_HOME is not set"
        raise SparkUnavailable(f"Java is missing: {where}; install Java {JAVA_NEEDED} or newer, or set JAVA_HOME, and try again")
    said = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < JAVA_NEEDED:
        found = version[1] if version else said.strip()[:80] or "nothing"
        raise SparkUnavailable(f"Java {JAVA_NEEDED} or newer is needed; {java} says {found}; set JAVA_HOME to a newer one and try again")


def _check_reachable(where: str) -> None:
    """Check that a standalone master is reachable; Spark itself checks other kinds of clusters."""
    if where.startswith("local"):
        return
    if not where.startswith("spark://"):
        return
    failures = []
    for address in where.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), CONNECT_S):
                return
        except (OSError, ValueError, OverflowError) as error:
            failures.append(f"{address}: {getattr(error, 'strerror', None) or error}")
    raise SparkUnavailable(
        f"the Spark master {where} is unreachable ({'; '.join(failures)}); start it, or correct SPARK_MASTER (without it Spark runs "
        "on this machine), and try again"
    )


def _start(where: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    on_this_machine = where.startswith(("local", "spark://127.", "spark://localhost"))
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "1g"),
        "spark.sql.session.timeZone": "UTC",
        "spark.executorEnv.PYTHONPATH": path,
        "spark.python.worker.reuse": "true",
        "spark.scheduler.mode": "FAIR",  # between analyses and runs
        "spark.log.level": "ERROR",
        **({"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} if on_this_machine else {}),
    }
    builder = SparkSession.builder.master(where).appName("millrace")
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SparkUnavailable(f"Spark does not start at {where}: {first_line}; the log of this worker has the rest") from error


def _wait_for_executor(spark: Any, where: str) -> None:
    """Wait for an executor. A standalone master accepts an application without free workers, and keeps one that has lost all its executors;
    jobs would then wait forever."""
    deadline_s = time.monotonic() + EXECUTOR_S
    while not _has_executor(spark):
        if time.monotonic() > deadline_s:
            raise SparkUnavailable(_no_executor(where))
        time.sleep(0.1)


def _has_executor(spark: Any) -> bool:
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) > 1  # the driver is one of them


def _no_executor(where: str) -> str:
    return (
        f"the Spark master {where} provided no executor within {EXECUTOR_S:.0f} s: it has no worker, or none with a free core and "
        "memory; start one (spark-class org.apache.spark.deploy.worker.Worker) or stop applications that use them, and try again"
    )


SESSION = Session()
