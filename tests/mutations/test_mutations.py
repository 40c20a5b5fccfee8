"""The mutations of `python -m benchmarks.mutants` still fit the engine's text, so that their counts mean something."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutants import ALL, ROOT, Mutation


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_the_mutation_applies(mutation: Mutation, tmp_path: Path) -> None:
    copy = tmp_path / mutation.file
    copy.parent.mkdir(parents=True)
    copy.write_text((ROOT / mutation.file).read_text())
    mutation.apply(tmp_path)
    assert copy.read_text() != (ROOT / mutation.file).read_text()
    compile(copy.read_text(), mutation.file, "exec")
