"""pytest plugin for `benchmarks.mutants`, which tries the same tests on hundreds of engines.

What the oracle finds is stored in the directory that MILLRACE_ORACLE names, and not computed again: the oracle is always the unchanged
one's. The test that began last stands in the file that MILLRACE_BEGAN names.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

import pytest


def pytest_runtest_logstart(nodeid: str) -> None:
    Path(os.environ["MILLRACE_BEGAN"]).write_text(nodeid)


def pytest_collection_finish(session: pytest.Session) -> None:
    from tests.engine.core import test_exactness
    from tests.support import agreement

    simulate, place = agreement.simulate, Path(os.environ["MILLRACE_ORACLE"])
    place.mkdir(parents=True, exist_ok=True)

    def stored(experiment: Any, datasets: Any = None, **parts: Any) -> Any:
        if any(parts.values()):  # actors remember what they heard
            return simulate(experiment, datasets, **parts)
        path = place / hashlib.blake2b(experiment.model_dump_json().encode(), digest_size=16).hexdigest()
        if path.is_file():
            return pickle.loads(path.read_bytes())
        result = simulate(experiment, datasets)
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_bytes(pickle.dumps(result))
        aside.replace(path)
        return result

    agreement.simulate = test_exactness.simulate = stored
