"""Risk 4: how long a record lives across hosts. Values in the message, from one pool with a stack of free places (what the engine does),
against row ids into ring segments of the senders, freed at window edges by a low-water mark.

Both makes of the small core carry the same eight header words and six columns. The memory test is scaled down from 10^8 records
(RECORDS) and done twice: with equal hosts, and with one host slow, whose waiting rows keep the low-water mark of every sender down.
"""

from __future__ import annotations

import random
import time

import engine
from tests.engine.agreement import template

from .finding import Finding, interleaved
from .shuffle import NO_ADMISSION, ROW_IDS, VALUES, Load, Make, Shuffle, million_hops_per_s

CHUNKINGS = 300
RECORDS = 10_000_000
MAKES = {"values in the message": Make(NO_ADMISSION, VALUES), "row ids": Make(NO_ADMISSION, ROW_IDS)}


def speeds() -> Finding:
    """Row ids with segments of several sizes: positions go round through the whole segment, so all of it has to fit into the cache."""
    names = {"values in the message": (Make(NO_ADMISSION, VALUES), Load())}
    names |= {f"row ids, segments of {1 << bits}": (Make(NO_ADMISSION, ROW_IDS), Load(row_bits=bits)) for bits in (5, 8, 12)}
    works = (lambda make=make, load=load: million_hops_per_s(make, load, 3_000_000_000, pool_rows=1 << 13) for make, load in names.values())
    values = [round(value, 1) for value in interleaved(5, *works)]
    return Finding(4, "100-host shuffle with 6 columns, M hops/s", "none: compare", None, dict(zip(names, values, strict=True)))


def chunkings() -> list[Finding]:
    findings = []
    for name, make in MAKES.items():
        load = Load(per_s=12_000)
        end_ns = 10_000_000
        whole = Shuffle(make, load)
        whole.run_until(end_ns)
        chance = random.Random("chunkings")
        results = raw = 0
        for _ in range(CHUNKINGS):
            run = Shuffle(make, load)
            for cut_ns in sorted(chance.randrange(end_ns) for _ in range(chance.randrange(1, 40))):
                run.run_until(cut_ns)
            run.run_until(end_ns)
            results += run.results() == whole.results()
            raw += run.raw() == whole.raw()
        findings.append(
            Finding(
                4,
                f"{name}: {CHUNKINGS} random chunkings of {whole.hops:,} hops",
                "all results equal",
                results == CHUNKINGS,
                {"results equal": results, "raw bytes equal": raw},
            )
        )
    return findings


def memory() -> list[Finding]:
    """Places that a run of RECORDS records needs at least, after a tenth and after all."""
    findings = []
    for slow in (1, 60):
        load = Load(slow=slow)
        for name, make in MAKES.items():
            measured: dict[str, object] = {}
            run = Shuffle(make, Load(**{**vars(load), "row_bits": 16}), pool_rows=1 << 21, ring=1 << 17 if slow > 1 else 256)
            pool = int(run.state["g"][0])
            hosts, seconds = load.hosts, RECORDS / 2 / (load.hosts * load.per_s)
            if slow > 1:
                seconds /= 20
            for share in (0.1, 1.0):
                run.run_until(int(seconds * share * 1e9))
                if make.payload == VALUES:
                    measured[f"places in use after {run.hops:,} hops"] = pool - int(run.state["g"][0])
                else:
                    rows = run.state["host"][:hosts, 13] - run.state["host"][:hosts, 12]
                    live = sum(
                        int(
                            (
                                run.state["done"][h, [n & 0xFFFF for n in range(run.state["host"][h, 12], run.state["host"][h, 13])]] == 0
                            ).sum()
                        )
                        for h in range(hosts)
                    )
                    measured[f"places held after {run.hops:,} hops"] = int(rows.sum())
                    measured[f"of them live after {run.hops:,} hops"] = live
            findings.append(Finding(4, f"{name}, {'one host overloaded' if slow > 1 else 'equal hosts'}", "none: compare", None, measured))
    return findings


def in_the_engine() -> list[Finding]:
    """The engine itself: 300 chunkings of a run over 100 hosts, and the pool's size over a long run."""
    document = template("nexmark_q12", horizon_s=0.02)
    document["cluster"]["hosts"][0]["count"] = 100
    for operator in document["query"]["operators"]:
        operator["parallelism"] = 100
    document["workload"]["sources"]["bids"]["rate"]["per_s"] = 120_000
    simulation = engine.Simulation(document)
    start = simulation.snapshot()
    simulation.run_until(simulation.end_ns)
    wanted, hops = simulation.digest(), simulation.summary()["hops"]
    chance = random.Random("engine")
    equal = 0
    started = time.process_time()
    for _ in range(CHUNKINGS):
        simulation.restore(start)
        for cut_ns in sorted(chance.randrange(simulation.end_ns) for _ in range(chance.randrange(1, 40))):
            simulation.run_until(cut_ns)
        simulation.run_until(simulation.end_ns)
        equal += simulation.digest() == wanted
    findings = [
        Finding(
            4,
            f"engine, 100 hosts, {CHUNKINGS} random chunkings of {hops:,} hops",
            "all digests equal",
            equal == CHUNKINGS,
            {"digests equal": equal, "cpu s": round(time.process_time() - started, 1)},
        )
    ]
    document["workload"] |= {"horizon_s": 20.0}
    simulation = engine.Simulation(document)
    sizes = []
    for share in (0.1, 1.0):
        simulation.run_until(int(simulation.end_ns * share))
        sizes.append((simulation.summary()["hops"], len(simulation._world.arrays.msg)))
    findings.append(
        Finding(
            4,
            "engine, 100 hosts, size of the message pool",
            "does not grow with the length of the run",
            sizes[0][1] == sizes[1][1],
            {f"messages after {hops:,} hops": size for hops, size in sizes},
        )
    )
    return findings


def measure() -> list[Finding]:
    return [speeds(), *chunkings(), *memory(), *in_the_engine()]
