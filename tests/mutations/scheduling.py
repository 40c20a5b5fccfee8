"""What schedulers use of the core, their statistics and their policies, broken one at a time."""

from __future__ import annotations

from .core import Mutation

HOSTS = ("tests/engine/core/test_scheduled_hosts.py",)
SLACK = ("tests/engine/scheduling/test_slack.py",)
POLICIES = ("tests/engine/scheduling/test_scheduling_policies.py",)
RUNS = ("tests/engine/scheduling/test_scheduled_runs.py",)
FORKS = ("tests/engine/scheduling/test_scheduling_forks.py",)
EPOCHS, BACKGROUND = "engine/core/kernels/epochs.py", "engine/core/kernels/background.py"
LOOP, OF_POLICIES = "engine/core/kernels/event_loop", "engine/scheduling"

MUTATIONS = (
    # sweeping watermarks, epochs
    Mutation(
        "sched: sweeps again at the deadline",
        EPOCHS,
        "(mark - end) // every > (before - end) // every",
        "(mark - end) // every >= (before - end) // every",
        HOSTS,
    ),
    Mutation("sched: the end of the log sweeps", EPOCHS, "at >= 0 and mark < FAR", "at >= 0", HOSTS),
    Mutation("sched: deadlines before the start", EPOCHS, "max(inst[i, I_WATERMARK], op[o, O_START])", "inst[i, I_WATERMARK]", HOSTS),
    Mutation("sched: squares overflow", EPOCHS, "if squares >= SQUARES:", "if False:", HOSTS),
    Mutation(
        "sched: watermarks are no entries",
        f"{LOOP}/sources.py",
        "note_delay(progress, i, best_ready - log[line, D_EVENT] - inst[i, I_LAG])",
        "pass",
        HOSTS,
    ),
    Mutation(
        "sched: epochs outlive a loss",
        "engine/core/kernels/host_failure.py",
        "            forget_epochs(world, i)",
        "            pass",
        HOSTS,
    ),
    Mutation(
        "sched: made when it was appended",
        f"{LOOP}/service.py",
        "msg[made, M_OLDEST] = mark + inst[i, I_LAG]",
        "msg[made, M_OLDEST] = best_ready",
        HOSTS,
    ),
    Mutation(
        "sched: a lost watermark is an unsent record",
        "engine/core/kernels/host_failure.py",
        "if msg[proc[p, P_SLOT], M_KIND] == RECORD:",
        "if True:",
        HOSTS,
    ),
    Mutation("sched: windows of other queries", "engine/lowering/deadlines.py", "if reached in own", "", HOSTS),
    # background work
    Mutation(
        "sched: background work is free", BACKGROUND, "host[h, H_BACKGROUND_END] = t + lasts", "host[h, H_BACKGROUND_END] = t + 1", HOSTS
    ),
    Mutation(
        "sched: background work ignores speed",
        BACKGROUND,
        "(host[h, H_BACKGROUND_PS] + host[h, H_SPEED] - 1) // host[h, H_SPEED]",
        "host[h, H_BACKGROUND_PS] // 1000",
        HOSTS,
    ),
    Mutation("sched: background work goes on in a pause", "engine/faults/pause.py", "host[L.H_BACKGROUND_END] += more_ns", "pass", HOSTS),
    Mutation(
        "sched: background work outlives a loss", "engine/core/kernels/host_failure.py", "    host[h, H_BACKGROUND_PS] = 0\n", "", HOSTS
    ),
    # statistics and slack
    Mutation("sched: costs are the last ones", f"{OF_POLICIES}/statistics.py", "SMOOTHING = 0.1", "SMOOTHING = 1.0", SLACK),
    Mutation("sched: control is part of the cost", f"{OF_POLICIES}/statistics.py", "(busy - control) / some", "busy / some", RUNS),
    Mutation("sched: variance of the mean", f"{OF_POLICIES}/slack.py", 'if variance == "printed"', 'if variance == "event"', SLACK),
    Mutation(
        "sched: no bins beyond the first",
        f"{OF_POLICIES}/slack.py",
        "/ cycle).astype(np.int64) + 1, 1)",
        "/ cycle).astype(np.int64) * 0, 1)",
        SLACK,
    ),
    Mutation("sched: late is never", f"{OF_POLICIES}/slack.py", "late = now > mean + z * sd", "late = now > mean + 9 * z * sd", SLACK),
    Mutation(
        "sched: windows give at once",
        f"{OF_POLICIES}/statistics.py",
        "np.where(self.tasks.fires, 0.0, self.selectivity)",
        "self.selectivity",
        SLACK,
    ),
    Mutation("sched: one core is enough", f"{OF_POLICIES}/slack.py", "work_ns / tasks.parallelism", "0 * work_ns", SLACK),
    # policies
    Mutation(
        "sched: earliest deadline",
        f"{OF_POLICIES}/klink.py",
        "-of.cost_ns, of.deadline_ns, of.slack_ns))",
        "-of.cost_ns, of.slack_ns, of.deadline_ns))",
        POLICIES,
    ),
    Mutation("sched: sources do not pause", f"{OF_POLICIES}/klink.py", "ranks[statistics.tasks.is_source] = PAUSED", "pass", POLICIES),
    Mutation(
        "sched: memory mode without end",
        f"{OF_POLICIES}/klink.py",
        "2 * statistics.used_bytes <= self._mode_began_bytes",
        "False",
        POLICIES,
    ),
    Mutation(
        "sched: StreamBox lets go", f"{OF_POLICIES}/streambox.py", "if passed[q] <= began and deadline[q] < FAR", "if False", POLICIES
    ),
    Mutation("sched: the same turn again", f"{OF_POLICIES}/round_robin.py", "self._next = (q + 1) % count", "self._next = q", POLICIES),
    Mutation(
        "sched: the newest first",
        f"{OF_POLICIES}/fcfs.py",
        'np.argsort(oldest, kind="stable")',
        'np.argsort(-oldest, kind="stable")',
        POLICIES,
    ),
    Mutation("sched: rates without costs", f"{OF_POLICIES}/highest_rate.py", "output / np.maximum(cost_ns, 1.0)", "output", POLICIES),
    # the cycle
    Mutation(
        "sched: cycles are free",
        f"{OF_POLICIES}/cycle.py",
        "add_background_work(world, h, round(work_us * PS_PER_US), now_ns)",
        "pass",
        RUNS,
    ),
    Mutation(
        "sched: a restored scheduler has no memory", f"{OF_POLICIES}/cycle.py", '        self.service.restore(state["service"])\n', "", RUNS
    ),
    Mutation(
        "sched: the second policy at once", "engine/simulation/scheduling_setup.py", "_replace(from_ns=at_ns)", "_replace(from_ns=1)", FORKS
    ),
)
