"""How thoroughly random cases are tried: `HYPOTHESIS_PROFILE=fast` for the quick part of the suite, `full` (the default) for all of it.

And one Spark session for all tests that need one.
"""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "full", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], print_blob=True
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=25, derandomize=True)
settings.register_profile("soak", settings.get_profile("full"), max_examples=4000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if not (shutil.which("java") or os.path.exists(os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java"))):
        pytest.fail("Java was not found: these tests need Java 17 or newer on PATH or in JAVA_HOME")
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
        .config("spark.sql.ansi.enabled", "true")  # an overflow is an error here, not a wrong number
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
