"""Lines of moves to other hosts, broken one at a time, each with the tests that ought to notice."""

from __future__ import annotations

from .core import Mutation

MOVES = ("tests/engine/relocation/test_moves.py",)
PLANS = ("tests/engine/relocation/test_plans.py",)
MONITOR = ("tests/engine/relocation/test_online_monitor.py",)
ACTIVE, ASSIGNMENT, JOB = (
    "engine/core/control/active_instances.py",
    "engine/rescaling/savepoint_assignment.py",
    "engine/rescaling/job.py",
)
PLANNING, LOOP = "engine/relocation/plans.py", "engine/relocation/loop.py"

MUTATIONS = (
    Mutation(
        "records go to the first host", "engine/core/kernels/event_loop/emission.py", "r += op[edge[e, E_TARGET], O_BEGIN]", "r += 0", MOVES
    ),
    Mutation("an operator is active on all hosts before its own", ACTIVE, "(index >= 0) & (index <", "(index <", MOVES),
    Mutation(
        "partitions stay with the first host", ACTIVE, "found: Words = begin + np.arange", "found: Words = 0 * begin + np.arange", MOVES
    ),
    Mutation(
        "a moved operator takes the state of another host", ASSIGNMENT, "saved.olds(laid)[n : n + 1]", "saved.news(laid)[n : n + 1]", MOVES
    ),
    Mutation("a moved operator's watermark begins anew", ASSIGNMENT, "yield old[n]._replace(instance=i)", "yield Mark(i, 0, 0, 0)", MOVES),
    Mutation("a move is taken for none", JOB, " and waiting.begins_after == waiting.begins_before:", ":", MOVES),
    Mutation(
        "moves forget what was moved before", JOB, "opened.begins_after) | dict(begins)", "opened.begins_after) and dict(begins)", MOVES
    ),
    Mutation(
        "noise begins anew on another host", "engine/lowering/operators.py", "1 if moves else spec.parallelism", "spec.parallelism", MOVES
    ),
    Mutation("pairs are assigned by ascending traffic", PLANNING, "key=lambda pair: -pair[1]", "key=lambda pair: pair[1]", PLANS),
    Mutation("capacity is ignored", PLANNING, "return self.load[host] + cores <= self.capacity[host]", "return True", PLANS),
    Mutation("any saving is worth a move", PLANNING, "crossing[1] <= (1 - improvement) * crossing[0]", "crossing[1] <= crossing[0]", PLANS),
    Mutation("a host may be burdened", PLANNING, "and after <= before and crossing", "and crossing", PLANS),
    Mutation(
        "what was measured before a move counts",
        LOOP,
        "self._samples, self._starts = [], len(self._job.starts)",
        "self._starts = len(self._job.starts)",
        MONITOR,
    ),
    Mutation("unsteady seconds are measured", LOOP, "del self._samples[:-1]", "pass", MONITOR),
    Mutation(
        "an edge has all outputs of its sender", LOOP, "last[BY_EDGE][n] - first[BY_EDGE][n]", "last[OUT_OF][1] - first[OUT_OF][1]", MONITOR
    ),
    Mutation("noise begins again after a move", ACTIVE, "w.inst[start + old[moved], L.I_SERVICES]", "0", MOVES),
    Mutation("cores keep those that were pinned to them", ACTIVE, "w.inst[group, L.I_PROCESSOR] = p", "pass", MOVES),
    Mutation(
        "queues that are only filling are as fast",
        "engine/learning/evaluations/monitoring.py",
        "range(first_s, len",
        "range(MEAN_S, len",
        ("tests/engine/learning/test_monitoring.py",),
    ),
    Mutation(
        "keys of a moved operator are those of the first host",
        "engine/diagnosis/hot_keys.py",
        "self._first(edge.target) + group",
        "group",
        ("tests/engine/diagnosis/test_hot_keys.py",),
    ),
    Mutation("slow cores count as fast ones", LOOP, "busy[id] * self._speeds[host]", "busy[id]", MONITOR),
)
