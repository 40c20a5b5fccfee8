"""Lines of autoscalers and rescaling, broken one at a time, each with the tests that ought to notice; see `benchmarks.mutants`."""

from __future__ import annotations

from .core import Mutation, tests_of

AUTOSCALING, RESCALING = "engine/autoscaling", "engine/rescaling"
VECTORS, POLICIES, LOOP, FLINK, ORACLE, JUDGING, READINGS, SERVICE, RUNS, QUERIES, PARTS = tests_of(
    "autoscaling_vectors autoscaling_policies autoscaling_loop flink_autoscaler scaling_oracle quality_metrics metric_readings"
    " metric_service autoscaled_runs rescaled_queries parts_of_savepoints"
)

MUTATIONS = (
    # what policies compute
    Mutation(
        "DS2 takes all time for busy", f"{AUTOSCALING}/ds2.py", "processing += rate / busy", "processing += rate", (VECTORS, POLICIES)
    ),
    Mutation("DS2 rounds down", f"{AUTOSCALING}/ds2.py", "math.ceil(needed)", "math.floor(needed)", (VECTORS, POLICIES)),
    Mutation("Dhalion takes the blocked share as it is", f"{AUTOSCALING}/dhalion.py", "beta / (1 - beta)", "beta", (VECTORS, POLICIES)),
    Mutation(
        "a wish is forgotten when it is as old as the window",
        f"{AUTOSCALING}/stabilising.py",
        "<= self._span_ns",
        "< self._span_ns",
        (VECTORS, POLICIES),
    ),
    Mutation("the HPA scales down at once", f"{AUTOSCALING}/stabilising.py", "return max(n for", "return min(n for", (VECTORS, POLICIES)),
    Mutation(
        "Flink's wish to scale down waits for nothing",
        f"{AUTOSCALING}/flink.py",
        "requests[0][0] + self._down_interval_ns:",
        "requests[0][0]:",
        (FLINK,),
    ),
    Mutation(
        "Flink forgets what comes in a restart",
        f"{AUTOSCALING}/flink.py",
        "load.target * self._restart_s() /",
        "0 * self._restart_s() /",
        (FLINK,),
    ),
    Mutation(
        "the oracle drains during the outage",
        f"{AUTOSCALING}/oracle.py",
        "serving_ns = until_ns - start_ns - self._outage_ns",
        "serving_ns = until_ns - start_ns",
        (ORACLE,),
    ),
    Mutation(
        "the slowest instance has as few groups as the fastest",
        f"{AUTOSCALING}/known_load.py",
        "Fraction(parts, -(-parts // p))",
        "Fraction(parts, parts // p)",
        (ORACLE,),
    ),
    # what becomes of a wish
    Mutation("over-provisioning rounds down", f"{AUTOSCALING}/limits.py", "math.ceil(p * over", "math.floor(p * over", (VECTORS, POLICIES)),
    Mutation(
        "a step is limited downwards, too",
        f"{AUTOSCALING}/limits.py",
        "min(p, current[vertex] + step_max)",
        "max(min(p, current[vertex] + step_max), current[vertex] - step_max)",
        (VECTORS, POLICIES),
    ),
    Mutation(
        "a fit rounds halves up",
        f"{AUTOSCALING}/limits.py",
        "round(factor * (p - least[vertex]))",
        "math.floor(factor * (p - least[vertex]) + Fraction(1, 2))",
        (VECTORS, POLICIES),
    ),
    Mutation(
        "what is left over goes to the smallest wish",
        f"{AUTOSCALING}/limits.py",
        "key=lambda vertex: -wanted[vertex]",
        "key=lambda vertex: wanted[vertex]",
        (VECTORS, POLICIES),
    ),
    Mutation(
        "the call takes no time of the silence",
        f"{AUTOSCALING}/loop.py",
        "seconds_ns(about.call_s) + seconds_ns(about.cooldown_s)",
        "seconds_ns(about.cooldown_s)",
        (LOOP, RUNS),
    ),
    Mutation(
        "an iteration ends a silence",
        f"{AUTOSCALING}/loop.py",
        "max(now_ns, self.quiet_until_ns) + self._times.every_ns",
        "max(now_ns + self._times.every_ns, self.quiet_until_ns)",
        (LOOP, RUNS),
    ),
    # what is read
    Mutation(
        "windows are open at their beginning",
        f"{AUTOSCALING}/metrics.py",
        "bisect_left(self.times_ns, self.times_ns[-1] - window_ns)",
        "bisect_left(self.times_ns, self.times_ns[-1] - window_ns + 1)",
        (READINGS,),
    ),
    Mutation(
        "counters of who begins anew go on", f"{AUTOSCALING}/scrapes.py", "base[own] = self._last[what][own]", "pass", (SERVICE, RUNS)
    ),
    Mutation("what stands still is scraped", f"{AUTOSCALING}/scrapes.py", "if part.name in stand:", "if False:", (SERVICE, RUNS)),
    # lags and outages
    Mutation(
        "what is read again is no lag",
        f"{AUTOSCALING}/telemetry.py",
        "(w.inst[here, L.I_IN] - w.inst[here, L.I_AGAIN]).sum()",
        "w.inst[here, L.I_IN].sum()",
        (RUNS,),
    ),
    Mutation("what logs have dropped is lag", f"{AUTOSCALING}/telemetry.py", "(read + dropped) *", "read *", (RUNS,)),
    Mutation(
        "outages count from the order", f"{AUTOSCALING}/telemetry.py", "[(self._stopped_ns(each), each", "[(each.ordered_ns, each", (RUNS,)
    ),
    Mutation(
        "nobody waits while the job is down",
        f"{AUTOSCALING}/telemetry.py",
        "if row[4] and not row[6] else row[5] / SECOND_NS",
        "if row[4] else 0",
        (RUNS,),
    ),
    Mutation(
        "halves of the lag overlap",
        f"{AUTOSCALING}/quality_metrics.py",
        "if half_ns < at_ns <= to_ns",
        "if from_ns < at_ns <= to_ns",
        (JUDGING,),
    ),
    # who takes what
    Mutation(
        "ranges of key groups begin too early",
        f"{RESCALING}/savepoint_assignment.py",
        "range(-(-index * groups // parallelism),",
        "range(index * groups // parallelism,",
        (PARTS, QUERIES),
    ),
    Mutation(
        "partitions are dealt out in turn",
        "engine/core/control/active_instances.py",
        "np.arange(partitions) * active // partitions",
        "np.arange(partitions) % active",
        (PARTS, QUERIES),
    ),
    Mutation(
        "key groups are dealt out in turn",
        "engine/core/control/active_instances.py",
        "np.arange(groups) * w.op[edge[L.E_TARGET], L.O_PARALLEL] // groups",
        "np.arange(groups) % w.op[edge[L.E_TARGET], L.O_PARALLEL]",
        (PARTS, QUERIES),
    ),
    Mutation(
        "who takes over goes on with the newest watermark",
        f"{RESCALING}/savepoint_assignment.py",
        "min(mark.watermark_ns for mark in old), min(",
        "max(mark.watermark_ns for mark in old), min(",
        (PARTS, QUERIES),
    ),
    Mutation(
        "partitions go on where their new owner is",
        "engine/simulation/source_logs.py",
        "return [max(self.place(w, first + index), floor, key=_turn) for",
        "return [self.place(w, first + index) for",
        (PARTS, QUERIES),
    ),
)
