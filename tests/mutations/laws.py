"""Laws of noise, arrivals and faults, and the families they belong to, broken one at a time."""

from __future__ import annotations

from .core import Mutation

NOISES = ("tests/engine/lowering/test_noises.py",)
ARRIVALS = ("tests/workloads/test_arrivals.py",)
OCCURRENCES = ("tests/engine/faults/test_occurrences.py", "tests/engine/faults/test_faults.py")
COLLECTIONS = ("tests/engine/core/test_collector_pauses.py",)
COST_NOISE = "engine/lowering/cost_noise.py"

MUTATIONS = (
    Mutation("noise of another mean", "engine/lowering/noises/lognormal.py", "exp(-reach - square / 2)", "exp(-reach)", NOISES),
    Mutation("a factor that does not fit", COST_NOISE, "(factors < below)", "(factors <= below)", NOISES),
    Mutation("drift ends a step early", COST_NOISE, "end_ns // drift.step_ns + 1", "end_ns // drift.step_ns", NOISES),
    Mutation("drift of services without drift", "engine/spec/experiment/drifts/none.py", "return 0", "return 1", NOISES),
    Mutation("bursts one interval late", "engine/workloads/arrivals/bursts.py", "times += 1", "times += 2", ARRIVALS),
    Mutation("scaled records at the real rate", "engine/workloads/arrivals/even.py", "curve, scale * RECORD", "curve, RECORD", ARRIVALS),
    Mutation("gamma gaps as Poisson's", "engine/workloads/arrivals/gamma.py", "load.curve, law.shape,", "load.curve, 1,", ARRIVALS),
    Mutation("equal spans between faults", "engine/faults/occurrences/random.py", "np.array([begun])", "np.array([0])", OCCURRENCES),
    Mutation("a fault comes twice", "engine/faults/occurrences/at.py", "None if begun else", "None if begun > 1 else", OCCURRENCES),
    Mutation(
        "old kinds inside other families",
        "engine/spec/base/family.py",
        "for family in Family._all:",
        "for family in (self,):",
        ("tests/spec/test_family.py",),
    ),
    Mutation(
        "collections that never end",
        "engine/spec/experiment/memory.py",
        "1_000_000 - above_ppm)\n        return",
        "10**9)\n        return",
        COLLECTIONS,
    ),
    Mutation("collections at any share", "engine/spec/experiment/memory.py", "used_ppm - above_ppm)", "used_ppm)", COLLECTIONS),
)
