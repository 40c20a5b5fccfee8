"""What schedulers use of the core, their statistics and their policies, broken one at a time."""

from __future__ import annotations

from .core import Mutation

HOSTS = ("tests/engine/core/test_scheduled_hosts.py",)
SLACK = ("tests/engine/scheduling/test_slack.py",)
POLICIES = ("tests/engine/scheduling/test_scheduling_policies.py",)
RUNS = ("tests/engine/scheduling/test_scheduled_runs.py",)
FORWARDING = ("tests/engine/scheduling/test_scheduling_forwarding.py",)
PREDICTIONS = ("tests/engine/scheduling/test_predictions.py",)
FORKS = ("tests/engine/scheduling/test_scheduling_forks.py",)
MARKERS = ("tests/engine/core/test_latency_markers.py",)
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
        "msg[made, M_OLDEST] = mark + inst[i, I_LAG] if mark < FAR else best_ready",
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
    Mutation(
        "sched: background work goes on in a pause", "engine/core/control/pauses.py", "host[L.H_BACKGROUND_END] += more_ns", "pass", HOSTS
    ),
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
    Mutation("sched: StreamBox waits for the cycle", f"{OF_POLICIES}/streambox.py", "watched=order)", "watched=())", RUNS),
    Mutation("sched: nothing is watched", f"{LOOP}/messages.py", "if tally[i, Y_WATCHED] == 1:", "if False:", HOSTS),
    # several hosts
    Mutation(
        "sched: messages of hosts take no bandwidth",
        "engine/core/control/links.py",
        "int(w.host[h, L.H_MBIT]), size_bytes, now_ns) + way",
        "int(w.host[h, L.H_MBIT]), 0, now_ns) + way",
        HOSTS,
    ),
    Mutation(
        "sched: messages of hosts cross a link that is down",
        "engine/core/control/links.py",
        "if w.link[k, L.LINK_UP] > now_ns:",
        "if False:",
        FORWARDING,
    ),
    Mutation(
        "sched: hosts know at once",
        f"{OF_POLICIES}/cycle.py",
        "replace(message, arrival_ns=arrival_ns)",
        "replace(message, arrival_ns=message.sent_ns)",
        FORWARDING,
    ),
    Mutation(
        "sched: the last word counts, not the newest",
        f"{OF_POLICIES}/forwarding.py",
        "self.costs[key].measured_ns < cost.measured_ns",
        "True",
        FORWARDING,
    ),
    Mutation(
        "sched: progress is not relayed",
        f"{OF_POLICIES}/forwarding.py",
        "about.host != to and about.instance in self.progress",
        "False",
        FORWARDING,
    ),
    Mutation(
        "sched: costs are not relayed",
        f"{OF_POLICIES}/forwarding.py",
        "if key[0] in told and key[1] != to}",
        "if False}",
        FORWARDING,
    ),
    Mutation(
        "sched: a lost host remembers what it was told",
        f"{OF_POLICIES}/cycle.py",
        "self.service, self.knowledge = Service(self.tasks), Knowledge(self.tasks)",
        "self.service = Service(self.tasks)",
        FORWARDING,
    ),
    Mutation(
        "sched: what waits elsewhere costs nothing",
        f"{OF_POLICIES}/slack.py",
        "costs_ns(statistics) + statistics.elsewhere_ns",
        "costs_ns(statistics)",
        SLACK,
    ),
    Mutation(
        "sched: an overdue watermark is near its end elsewhere",
        f"{OF_POLICIES}/slack.py",
        " + statistics.elsewhere_ns[about.query]",
        "",
        SLACK,
    ),
    # predictions
    Mutation("sched: the regression climbs", f"{OF_POLICIES}/regression.py", "weight - STEP", "weight + STEP", PREDICTIONS),
    Mutation(
        "sched: delays never switch",
        "engine/workloads/delays/laws.py",
        "self._at_ns, early, late)",
        "self._at_ns, early, early)",
        PREDICTIONS,
    ),
    # latency markers
    Mutation(
        "sched: markers take one way",
        f"{LOOP}/sending.py",
        "msg[made, M_TRIGGER] //= parallel",
        "msg[made, M_TRIGGER] *= parallel",
        MARKERS,
    ),
    Mutation(
        "sched: markers go to every receiver", f"{LOOP}/emission.py", "more = False\n                # WEAVE end", "# WEAVE end", MARKERS
    ),
    Mutation("sched: markers go round", f"{LOOP}/emission.py", " or msg[slot, M_KIND] == MARKER)", ")", MARKERS),
    Mutation("sched: markers take no memory", "engine/core/kernels/memory.py", " or msg[slot, M_KIND] == MARKER", "", MARKERS),
    Mutation(
        "sched: markers are made when they are read",
        f"{LOOP}/sources.py",
        "msg[made, M_NEWEST] = best_ready",
        "msg[made, M_NEWEST] = t",
        MARKERS,
    ),
    Mutation("sched: markers of the end", "engine/workloads/feed.py", "min(to_ns, self.closes_ns - self._start_ns)", "to_ns", MARKERS),
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
