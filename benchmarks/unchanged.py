"""Does a change that should change nothing really change nothing? Compares the tree with a file written before the change.

    python -m benchmarks.unchanged FILE [--processes 2] [--without-figures]

If FILE does not exist, it is written: the documents of many runs, and the hash of each run's digest, frames and summary; the hashes of
all example documents, of the schemas and of the catalogue; identity and result of every figure at smoke scale. If FILE exists, the same
documents run again, and each entry that differs is named. Status 0 if none does.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import engine
from engine.figures import Here, reproduce
from engine.spec import Context, Refusal, load
from engine.spec.experiment import registry
from engine.spec.experiment.document import read_document
from engine.spec.figure.figure import SCALES, identity
from engine.spec.figure.files import FigureFiles
from engine.spec.study.schema import study_schema
from engine.workloads import lookup

os.environ.setdefault("MILLRACE_LOOPS", "shared")  # digests are the same, and a few loops are compiled in place of hundreds
ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
FILES = FigureFiles(FIXTURES)
DATASETS = lookup([FIXTURES / "data"])
HORIZON_S_MAX = 2.0
RANDOM_DOCUMENTS = 150
FORKED_AT = 0.5
"""The share of a run after which it is forked."""

Document = dict[str, Any]


def hash_of(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True, default=str).encode(), digest_size=12).hexdigest()


# --- what runs ----------------------------------------------------------------------------------------------------------------------------


def examples() -> Iterator[tuple[str, Document]]:
    for path in sorted((FIXTURES / "experiments").glob("*.yaml")):
        document = read_document(path)
        document["workload"]["horizon_s"] = min(document["workload"]["horizon_s"], HORIZON_S_MAX)
        document["workload"]["warmup_s"] = 0.0
        yield f"example {path.stem}", document


def random_documents() -> Iterator[tuple[str, Document]]:
    """Random queries and clusters, and jobs under each protocol with random losses."""
    from hypothesis import Phase, given, settings

    from tests.support.strategies import documents

    drawn: dict[str, Document] = {}

    @settings(max_examples=RANDOM_DOCUMENTS, phases=[Phase.generate], deadline=None, derandomize=True, database=None)
    @given(document=documents())
    def draw(document: Document) -> None:
        drawn.setdefault(hash_of(document), document)

    draw()
    yield from ((f"random {n}", document) for n, document in enumerate(drawn.values(), 1))


def corner_cases() -> Iterator[tuple[str, Document]]:
    from tests.support import recovery_examples
    from tests.support.corner_cases import CORNER_CASES
    from tests.support.network_cases import NETWORK_CASES
    from tests.support.strategies import host_names

    yield from ((f"corner case {case.__name__}", case()) for case in CORNER_CASES + NETWORK_CASES)
    chance = random.Random(1)
    for protocol in recovery_examples.PROTOCOLS:
        for job in (recovery_examples.counting, recovery_examples.joining):
            document = job(protocol=protocol())
            hosts, horizon_s = host_names(document["cluster"]), document["workload"]["horizon_s"]
            yield (
                f"{job.__name__} under {protocol.__name__}",
                recovery_examples.with_losses(document, recovery_examples.random_losses(chance, hosts, horizon_s)),
            )


def outcome(given: tuple[str, Document]) -> tuple[str, dict[str, str]]:
    """Hashes of a run, and of a fork of it that only goes on."""
    name, document = given
    try:
        simulation = engine.Simulation(document, datasets=DATASETS)
    except Refusal as refusal:
        return name, {"refused": hash_of(str(refusal))}
    frames = []
    fork = None
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
        if fork is None and simulation.now_ns >= FORKED_AT * simulation.end_ns:
            fork = simulation.fork()
    found = {
        "document": simulation.experiment.hash,
        "digest": simulation.digest(),
        "frames": hash_of(frames),
        "summary": hash_of({**simulation.summary(), "wall_s": 0}),
    }
    if fork is not None:
        fork.run_until(fork.end_ns)
        found["fork"] = fork.digest()
    return name, found


# --- what is described --------------------------------------------------------------------------------------------------------------------


def descriptions() -> dict[str, str]:
    found = {
        "schema of the document": hash_of(registry.document_schema()),
        "schema of a study": hash_of(study_schema()),
        "catalogue": hash_of(registry.catalogue()),
    }
    for path in sorted((FIXTURES / "experiments").glob("*.yaml")):
        found[f"document {path.stem}"] = load(read_document(path), Context(datasets=DATASETS)).hash
    for id in FILES.ids():
        for scale in SCALES:
            found[f"figure {id} at {scale} scale"] = identity(FILES.figure(id), scale, FILES.experiment)
    return found


def figure(id: str) -> tuple[str, str]:
    return f"result of {id}", hash_of(reproduce(FILES.figure(id), "smoke", FILES.experiment, Here()).as_dict())


# --- comparing ----------------------------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="written if it does not exist, else compared with")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--without-figures", action="store_true", help="do not carry the figures out")
    arguments = parser.parse_args()
    before = json.loads(gzip.decompress(arguments.file.read_bytes())) if arguments.file.is_file() else None
    given = before["given"] if before else dict([*examples(), *random_documents(), *corner_cases()])
    with ProcessPoolExecutor(arguments.processes) as pool:
        found: dict[str, Any] = dict(pool.map(outcome, given.items(), chunksize=4))
        found |= descriptions()
        if not arguments.without_figures:
            found |= dict(pool.map(figure, FILES.ids()))
    if before is None:
        arguments.file.write_bytes(gzip.compress(json.dumps({"given": given, "found": found}, sort_keys=True).encode(), mtime=0))
        print(f"{arguments.file}: {len(found)} entries of {len(given)} runs")
        return 0
    compared = before["found"].keys() & found.keys() if arguments.without_figures else before["found"].keys() | found.keys()
    differ = sorted(name for name in compared if before["found"].get(name) != found.get(name))
    for name in differ:
        print(f"differs: {name}\n  before {before['found'].get(name)}\n  now    {found.get(name)}")
    print(f"{len(compared)} entries compared, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
