"""The cache above a local store against ordered dicts (specification of incremental checkpointing, A1).

What this catches: an entry that is dirty twice; a batch in the wrong order; a scan, a commit or an eviction that leaves entries behind; a
clean entry that is written; an entry dropped that was used since; what depends on how operations are divided into calls.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.state.cache import Cache, CacheSettings, Written
from engine.state.kernels import COMMIT, DELETE, PUT, READ, SCAN
from tests.support.store_twins import CacheTwin

KINDS = [PUT, PUT, PUT, DELETE, READ, READ, READ, READ, SCAN, COMMIT]
SETTINGS = st.integers(1, 5).flatmap(lambda batch: st.builds(CacheSettings, batch=st.just(batch), objects=st.integers(batch, 8)))


def rows_of(written: Written) -> list[tuple[int, ...]]:
    return [*zip(*(column.tolist() for column in written), strict=True)]


@given(SETTINGS, st.integers(0, 2**32), st.integers(1, 7))
def test_a_cache_does_what_ordered_dicts_do(settings: CacheSettings, seed: int, at_once: int) -> None:
    cache, twin = Cache(settings), CacheTwin(settings)
    chance = np.random.default_rng(seed)
    columns = [chance.choice(KINDS, 300, p=[0.12] * 8 + [0.02] * 2), np.arange(300) * 10, *chance.integers(0, 12, (3, 300))]
    rows = np.stack(columns, axis=1)
    found = []
    for first in range(0, len(rows), at_once):
        found += rows_of(cache.carry_out(rows[first : first + at_once]))
        for row in rows[first : first + at_once].tolist():
            twin.carry_out(*row)
        assert (cache.dirty, cache.used) == (len(twin.dirty), len(twin.entries))
    assert found == twin.left
    assert cache.write_outs == twin.causes
    assert (cache.reads, cache.absorbed) == ((twin.hits, twin.misses), twin.absorbed)


def test_updates_between_two_scans_become_one() -> None:
    cache = Cache(CacheSettings(batch=500))
    rows = np.array([(PUT, n, 3, n, 30) for n in range(400)] + [(SCAN, 400, 0, 0, 0)], np.int64)
    written = cache.carry_out(rows)
    assert rows_of(written) == [(400, 3, 399, 30, False, 0)]
    assert cache.absorbed == 399


@pytest.mark.parametrize(("given", "named"), [({"batch": 0}, "batch is 0"), ({"batch": 500, "objects": 499}, "objects is 499")])
def test_settings_that_cannot_be(given: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        CacheSettings(**given)
