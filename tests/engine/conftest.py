"""One Spark session for all tests that need one, and memory that was used before for all tests."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core import buffers


@pytest.fixture(scope="session", autouse=True)
def used_memory() -> Iterator[None]:
    """Tables that may hold anything begin with what no run could go on with."""
    words = buffers.words

    def used_words(count: int, type: type[np.int64] = np.int64) -> Any:
        table = words(count, type)
        table[: 1 << 16] = 0x5A5A5A5A5A5A5A5A
        return table

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "words", used_words)
        yield


@pytest.fixture
def own_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has a loop with what it needs, as outside the tests (`engine.core.weave.shares_loops`)."""
    monkeypatch.setenv("MILLRACE_LOOPS", "own")


@pytest.fixture(scope="module")
def executor() -> Any:
    """Makes the runs of figures, in this process. Figures of a file rest on the same runs."""
    from engine.figures import Here

    return Here()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if not (shutil.which("java") or os.path.exists(os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java"))):
        pytest.fail("Java was not found: these tests need Java 17 or newer on PATH or in JAVA_HOME")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the executors
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("millrace-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.executorEnv.PYTHONPATH", str(Path(__file__).parents[2]))  # whoever asks for a session later gets this one
        .config("spark.sql.ansi.enabled", "true")  # an overflow is an error here, not a wrong number
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
