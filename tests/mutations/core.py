"""Lines of the event loop and of what lies around it, broken one at a time: does the suite notice? `benchmarks.mutants` tries them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORLD = "engine/core/world.py"
FRAGMENTS = "arrivals completions control_messages dispatch emission instant memory messages sending service sharing sources window"
ARRIVALS, COMPLETIONS, CONTROL_MESSAGES, DISPATCH, EMISSION, INSTANT, MEMORY, MESSAGES, SENDING, SERVICE, SHARING, SOURCES, WINDOW = (
    f"engine/core/kernels/event_loop/{name}.py" for name in FRAGMENTS.split()
)
KERNELS = "dispatch heaps latencies memory messages queues rings service_cost state_table"
DISPATCH_KERNELS, HEAPS, LATENCIES, MEMORY_KERNELS, MESSAGE_KERNELS, QUEUES, RINGS, SERVICE_COST, STATE_TABLE = (
    f"engine/core/kernels/{name}.py" for name in KERNELS.split()
)
CREDITS = "engine/spec/experiment/flow_control/credits.py"
MACHINE, TEXTS, COMPILER = (
    "engine/core/kernels/expression_machine.py",
    "engine/lowering/text_tables.py",
    "engine/spec/expressions/compiler.py",
)
AGGREGATE, SESSION, COUNT_WINDOW = (f"engine/operators/{name}aggregate.py" for name in ("", "session_", "count_window_"))
AGGREGATION, JOIN, SPLIT, PAIRS, WINDOW_JOIN, INTERVAL_JOIN, EXPIRING_JOIN = (
    f"engine/operators/{name}.py" for name in ("aggregation", "join", "split", "pairs", "window_join", "interval_join", "expiring_join")
)
ALIGNMENT, ARRANGEMENT = "engine/core/kernels/alignment.py", "engine/core/control/active_instances.py"
LOSS, LOSING = "engine/core/control/host_failure.py", "engine/core/kernels/host_failure.py"
FAULTS, HOST_LOSS, DEATHS = (f"engine/faults/{name}.py" for name in ("__init__", "host_loss", "death"))
WAYS, MOVING = "engine/core/kernels/transmission.py", "engine/core/kernels/state_transfer.py"
NETWORK, CORE_NETWORK, ACTORS = "engine/lowering/network.py", "engine/core/control/links.py", "engine/core/control/actors.py"

RANKS = "engine/core/control/ranks.py"
FEED, PLAN, COPIES, DRAWN = (
    "engine/workloads/feed.py",
    "engine/lowering/plan.py",
    "engine/spec/rules/copies.py",
    "engine/telemetry/drawn.py",
)


def tests_of(names: str) -> tuple[str, ...]:
    """The files of these tests of the engine, wherever they stand below tests/engine. Raises ValueError where there is none."""
    found = {path.stem: str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "engine").rglob("test_*.py")}
    if missing := [name for name in names.split() if f"test_{name}" not in found]:
        raise ValueError(f"tests/engine has no tests named {', '.join(missing)}")
    return tuple(found[f"test_{name}"] for name in names.split())


CORE = (
    *tests_of("exactness host_loss deaths turns memory keyed_state barriers actors"),
    "tests/spec/test_expression_machine.py",
    *tests_of("core_rules text_tables latency_stamps cost_noise active_instances determinism aligning"),
)
"""Where a fault in the core ought to show, what shows most first."""
QUERIES, RANKED, VALUE_PRICES, PENDING = (tests_of(names) for names in ("queries", "ranks turns", "value_prices", "pending_outputs"))
LIKELY = {
    ALIGNMENT: tests_of("barriers aligning"),
    LOSING: tests_of("host_loss deaths"),
    LOSS: tests_of("deaths host_loss"),
    DEATHS: tests_of("deaths"),
    HOST_LOSS: tests_of("host_loss"),
    FAULTS: tests_of("deaths host_loss"),
    ARRANGEMENT: tests_of("active_instances"),
    ACTORS: tests_of("actors"),
    MACHINE: ("tests/spec/test_expression_machine.py",),
    COMPILER: ("tests/spec/test_expression_machine.py",),
}
"""The tests that show a fault in a file soonest."""


@dataclass(frozen=True)
class Mutation:
    """Replace `old`, which must occur exactly once in `file`, by `new`. by: files of the tests that ought to fail."""

    name: str
    file: str
    old: str
    new: str
    by: tuple[str, ...] = CORE

    def apply(self, root: Path) -> None:
        path = root / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise ValueError(
                f"mutation '{self.name}': its text occurs {text.count(self.old)} times in {self.file}, not once; bring it up to date"
            )
        path.unlink()  # it may be a link to the file of another tree
        path.write_text(text.replace(self.old, self.new))


MUTATIONS = (
    # windows and order
    Mutation("inbox left unsorted", WAYS, "host[h, H_REMOTE_SORTED], tail)\n", "host[h, H_REMOTE_SORTED], host[h, H_REMOTE_SORTED])\n"),
    Mutation(
        "host not woken by its inbox", WAYS, "if rings[2 * h + 1, q, RING_TIME] < next_ns[h]:", "if rings[2 * h + 1, q, RING_TIME] < 0:"
    ),
    Mutation("window too long", WINDOW, "window_end = t0 + lookahead - 1", "window_end = t0 + 2 * lookahead"),
    Mutation("tie of arrivals reversed", RINGS, "tie_a < tie_b", "tie_a > tie_b"),
    Mutation("merge forgets the sorted part's head", RINGS, "if a >= head and ring_before(", "if a > head and ring_before("),
    Mutation(
        "completions by falling instance",
        COMPLETIONS,
        "proc[x, P_INSTANCE] < proc[p, P_INSTANCE]",
        "proc[x, P_INSTANCE] > proc[p, P_INSTANCE]",
    ),
    Mutation(
        "last of the wake-ups first",
        COMPLETIONS,
        "if i < 0:\n                i = k",
        "if True:\n                i = k",
    ),
    Mutation(
        "class of what waits forgotten",
        QUEUES,
        "turn_of(msg[slot, M_READY], msg[slot, M_CLASS])",
        "turn_of(msg[slot, M_READY], CLASS_REMOTE)",
    ),
    Mutation(
        "what follows in a queue keeps its turn", MESSAGES, "turn_of(msg[after, M_READY], msg[after, M_CLASS]) if", "inst[i, I_HEAD] if"
    ),
    Mutation("log before ticks", DISPATCH_KERNELS, "turn = min(turn, turn_of(", "turn = min(turn + 1, turn_of("),
    Mutation(
        "a log record before its time", DISPATCH_KERNELS, "log[inst[i, I_LOG], D_APPEND] <= t:", "log[inst[i, I_LOG], D_APPEND] <= t + 5:"
    ),
    # service and links
    Mutation("service rounded down", SERVICE, "(cost_ps + host[h, H_SPEED] - 1) // host[h, H_SPEED]", "cost_ps // host[h, H_SPEED]"),
    Mutation("service may take no time", SERVICE, "if service < 1:", "if service < 0:"),
    Mutation("price of outputs forgotten", SERVICE, "op[o, O_OUTPUT_PS] * (n + box[BOX_COUNTED])", "op[o, O_OUTPUT_PS] * (n > 0)"),
    Mutation("a firing reads one record", SERVICE, "O_READ_PS] * box[BOX_READ]", "O_READ_PS] * (box[BOX_READ] > 0)", VALUE_PRICES),
    Mutation("a join reads its pairs", WINDOW_JOIN, "box[BOX_READ] = read", "box[BOX_READ] = outputs", VALUE_PRICES),
    Mutation(
        "records that stay are deserialised",
        MESSAGES,
        "C_SENDER], I_HOST] != h:\n        extra",
        "C_SENDER], I_HOST] != -1:\n        extra",
        VALUE_PRICES,
    ),
    Mutation(
        "records that stay are serialised", SERVICE_COST, "inst[r, I_HOST] != inst[i, I_HOST]:", "inst[r, I_HOST] != -1:", VALUE_PRICES
    ),
    Mutation("each receiver's copy is paid", SERVICE_COST, "one_of = world.op[edge[e, E_TARGET], O_PARALLEL]", "one_of = 1", VALUE_PRICES),
    Mutation("all ports' outputs cross", SERVICE_COST, "msg[made, M_EDGE] == edge[e, E_OUTPUT]", "msg[made, M_EDGE] >= 0"),
    Mutation("pending outputs are not lost", LOSING, "count = msg[slot, PENDING_LEFT]", "count = 0", PENDING),
    Mutation("pending outputs take no room", MEMORY_KERNELS, "room *= msg[slot, PENDING_LEFT]", "room *= 1", PENDING),
    Mutation("pending outputs are serialised once", SERVICE_COST, "outputs += msg[made, PENDING_LEFT]", "outputs += 1", PENDING),
    Mutation("pending pairs of panes that have fired", WINDOW_JOIN, "> msg[slot, PENDING_FIRED_TO]:", "> -FAR:", PENDING),
    Mutation(
        "windows of records end one early",
        WINDOW_JOIN,
        "counted > 0 and (number + 1) % step == 0",
        "counted > 0 and (number + 2) % step == 0",
    ),
    Mutation("watermarks end windows of records", WINDOW_JOIN, "or par[at + JOIN_COUNTED] > 0:", "or par[at + JOIN_COUNTED] > 1 << 60:"),
    Mutation("no record ends a marked window", AGGREGATE, "        ends = 1\n", "        ends = 0\n"),
    Mutation("the last pair does not say so", WINDOW_JOIN, "msg[made, M_PAYLOAD + c] = 1", "msg[made, M_PAYLOAD + c] = 0"),
    Mutation("pending pairs free nothing", WINDOW_JOIN, "if msg[slot, PENDING_LEFT] == 1:", "if msg[slot, PENDING_LEFT] < 1:", PENDING),
    Mutation(
        "fired panes stay in the state",
        WINDOW_JOIN,
        "discount_panes(world, limit - lateness",
        "discount_panes(world, -FAR + 0 * lateness",
        PENDING,
    ),
    Mutation("transfer rounded down", WAYS, "(size * 8000 + mbit - 1) // mbit", "size * 8000 // mbit"),
    Mutation("the link never queues", WAYS, "fifo[row, free] = departure", "fifo[row, free] = begun"),
    Mutation("a link of its own takes the egress link", WAYS, "if link[k, LINK_MBIT] > 0:", "if link[k, LINK_MBIT] < 0:"),
    Mutation("a link reorders", WAYS, "if arrival < link[k, LINK_ARRIVED]:", "if arrival < 0:"),
    Mutation("a cut that ends a microsecond early", WAYS, "if link[k, LINK_UP] > t:", "if link[k, LINK_UP] > t + 1000:"),
    Mutation(
        "what waits leaves the last first", WAYS, "msg[link[k, LINK_HELD_LAST], M_NEXT] = made", "msg[made, M_NEXT] = link[k, LINK_HELD]"
    ),
    Mutation("what waits leaves too late", NETWORK, "release(world, change.link, now_ns + 1)", "release(world, change.link, now_ns + 2)"),
    Mutation("touching cuts heal between", NETWORK, "while ends:  # partitions", "for _ in range(1):  # partitions"),
    Mutation("a look-ahead that is too long", CORE_NETWORK, "w.g[L.G_LOOKAHEAD] = look_ahead(w)", "w.g[L.G_LOOKAHEAD] *= 2"),
    Mutation("credits pass a cut", WAYS, "max(t, link[-1 - way, LINK_UP])", "t"),
    Mutation("a trunk takes what has not entered yet", WINDOW, "while next_ns[h] <= window_end:", "while next_ns[h] < FAR:"),
    # actors
    Mutation(
        "a call-out answered for another host",
        CONTROL_MESSAGES,
        "if host[h, H_CALL] == CALL_NONE:  # Python",
        "if host[actors - 1, H_CALL] == CALL_NONE:  # Python",
    ),
    Mutation(
        "aligned one barrier too early",
        CONTROL_MESSAGES,
        "last = align[i, ALIGN_BARRED] + 1 == align",
        "last = align[i, ALIGN_BARRED] + 2 >= align",
    ),
    Mutation("what waits behind a barrier is not passed over", MESSAGES, "after = pass_over(world, i, after)", "after = after"),
    Mutation("other channels are barred", ALIGNMENT, "barred = world.gate[world.msg", "barred = -1 - world.gate[world.msg"),
    Mutation("waits for barriers count from the arrival", ALIGNMENT, "max(ready, world.gate[channel, Q_BARRED])", "ready"),
    Mutation(
        "waits for barriers count from the bar", ALIGNMENT, "max(ready, world.gate[channel, Q_BARRED])", "world.gate[channel, Q_BARRED]"
    ),
    Mutation(
        "whatever stood behind a release had waited for it",
        ALIGNMENT,
        "align[i, ALIGN_GENERATION] - 1:",
        "align[i, ALIGN_GENERATION] - 1 or True:",
    ),
    Mutation("only what was passed over is let in", ALIGNMENT, "M_NEXT] = after\n        if after", "M_NEXT] = -1\n        if after"),
    Mutation("the end of what is let in is forgotten", ALIGNMENT, "inst[i, I_QUEUE_LAST] = align[", "align[i, ALIGN_GENERATION] = align["),
    Mutation("control messages overtake one another", ALIGNMENT, "while x >= 0 and (msg[x", "while x >= 0 and (-msg[x"),
    Mutation(
        "a control message waits for the log",
        DISPATCH_KERNELS,
        "reads = control_mode == CONTROL_OFF or turn",
        "reads = control_mode == CONTROL_ON or turn",
    ),
    Mutation(
        "windows begin without actors",
        WINDOW,
        "for h in range(hosts):\n        if next_ns[h] < t0:",
        "for h in range(actors):\n        if next_ns[h] < t0:",
    ),
    Mutation("actors look beyond the window", ACTORS, "(world, k)) <= until_ns:", "(world, k)) <= until_ns + 100_000:"),
    Mutation(
        "arrivals before what was put off",
        ACTORS,
        "if agenda and agenda[0].time_ns == due_ns:",
        "if agenda and agenda[0].time_ns < due_ns:",
    ),
    Mutation("look-ahead without actors", CORE_NETWORK, "    if len(actors):", "    if len(actors) > 99:"),
    Mutation("a trunk passes on in a torn window", WINDOW, "passing = actors > machines and reason == DONE", "passing = actors > machines"),
    Mutation("a control element as large as a record", SENDING, "size = CONTROL_BYTES", "size = edge[e, E_BYTES]"),
    Mutation("control elements without noise", SERVICE, "if op[o, O_NOISE] >= 0:", "if op[o, O_NOISE] >= 0 and kind == RECORD:"),
    Mutation(
        "warm-up one record short",
        SERVICE_COST,
        "left = par[at + NOISE_WARM_UP_RECORDS] - inst[i, I_IN]",
        "left = par[at + NOISE_WARM_UP_RECORDS] - inst[i, I_IN] - 1",
    ),
    Mutation("equal noise in all instances", SERVICE_COST, "* -7046029254386353131 + inst[i, I_NOISE])", "* -7046029254386353131)"),
    Mutation("the drift of the next step", SERVICE_COST, "t // par[at + NOISE_DRIFT_STEP_NS]", "t // par[at + NOISE_DRIFT_STEP_NS] + 1"),
    Mutation(
        "noise from the wrong half", SERVICE_COST, "        if word < 0:\n            half +=", "        if word >= 0:\n            half +="
    ),
    Mutation("noise in steps", SERVICE_COST, "* ((share >> 40) & 0xFFFF) >> 16", "* ((share >> 40) & 0xFFFF) >> 32"),
    # memory
    Mutation("memory: queues only grow", MESSAGES, "memory[h, Z_HELD] -= room\n", "memory[h, Z_HELD] -= 0\n"),
    Mutation("memory: control elements take none", MEMORY_KERNELS, "room = CONTROL_BYTES\n    elif", "room = 0\n    elif"),
    Mutation(
        "memory: the law of another host",
        MEMORY_KERNELS,
        "footprint[world.memory[h, Z_LAW], msg[slot, M_EDGE]]",
        "footprint[0, msg[slot, M_EDGE]]",
    ),
    Mutation(
        "memory: outputs of the first port only",
        MEMORY_KERNELS,
        "            port = msg[slot, M_EDGE]\n        e = world.par",
        "            port = 0\n        e = world.par",
    ),
    Mutation("memory: outputs are forgotten", SERVICE, "while unsent >= 0:", "while unsent >= 1 << 60:"),
    Mutation(
        "memory: state is forgotten",
        MESSAGES,
        "memory[h, Z_STATE] += inst[i, I_STATE_BYTES] - tally[i, Y_STATE]",
        "memory[h, Z_STATE] += 0",
    ),
    Mutation("memory: state counts twice", MESSAGES, "tally[i, Y_STATE] = inst[i, I_STATE_BYTES]", "tally[i, Y_STATE] += 0"),
    Mutation("memory: the curve in steps", MEMORY_KERNELS, "factor += (curve[k + 1, CURVE_FACTOR] - factor) * way >> 16", "factor += 0"),
    Mutation("memory: no pressure", SERVICE, "cost_ps = times(cost_ps, memory[h, Z_PRESSURE])", "cost_ps = times(cost_ps, NO_PRESSURE)"),
    Mutation("memory: death near the limit", MEMORY_KERNELS, "if used > memory[h, Z_LIMIT]:", "if used >= memory[h, Z_LIMIT] - 50:"),
    Mutation("memory: the dead go on", WINDOW, "memory[h, Z_DIED] >= 0:  # something came, and nobody is there", "False:"),
    Mutation(
        "memory: arrivals at busy hosts unseen",
        INSTANT,
        "                choosing = True\n            if dispatch_mode == DISPATCH_SCAN:",
        "                choosing = choosing\n            if dispatch_mode == DISPATCH_SCAN:",
    ),
    Mutation(
        "memory: full at the mark",
        MEMORY_KERNELS,
        "memory[h, Z_ITEMS] > memory[h, Z_ITEMS_MAX]",
        "memory[h, Z_ITEMS] >= memory[h, Z_ITEMS_MAX]",
    ),
    Mutation("memory: full for ever", MEMORY_KERNELS, "            memory[h, Z_FULL] = 0", "            memory[h, Z_FULL] = 1"),
    Mutation(
        "memory: no band below the mark",
        MEMORY_KERNELS,
        "memory[h, Z_ITEMS] <= memory[h, Z_ITEMS_RESUME]",
        "memory[h, Z_ITEMS] <= memory[h, Z_ITEMS_MAX]",
    ),
    Mutation("memory: sources go on late", MEMORY, "host[h, H_RESUME] = t + 1\n", "host[h, H_RESUME] = t + 2\n"),
    Mutation("memory: a full host reads on", DISPATCH_KERNELS, "and not (held_back and log[inst[i, I_LOG], D_TRIGGER] >= 0)", "and True"),
    Mutation(
        "memory: a full host holds back its marks", DISPATCH_KERNELS, "(held_back and log[inst[i, I_LOG], D_TRIGGER] >= 0)", "held_back"
    ),
    Mutation(
        "memory: what is shed leaves no time",
        SOURCES,
        "tally[i, Y_SHED] += 1\n        if log[line, D_EVENT] >",
        "tally[i, Y_SHED] += 1\n        if log[line, D_EVENT] < -FAR and log[line, D_EVENT] >",
    ),
    Mutation(
        "memory: shed records are free",
        SOURCES,
        "box[BOX_WORK] = 1\n        tally",
        "box[BOX_WORK] = 0\n        tally",
    ),
    # warm-ups by time
    Mutation(
        "warm-up: by time since the start of the run", LOSS, "inst[L.I_STATUS], inst[L.I_UP] = L.IDLE, now_ns", "inst[L.I_STATUS] = L.IDLE"
    ),
    Mutation(
        "warm-up: never over", SERVICE_COST, "left = par[at + NOISE_WARM_UP_NS] - t + inst[i, I_UP]", "left = par[at + NOISE_WARM_UP_NS]"
    ),
    # deaths and restarts
    Mutation(
        "deaths: a trunk takes what has not left",
        WINDOW,
        "machines and reason == DONE\n",
        "machines and (reason == DONE or reason == DEATH)\n",
    ),
    Mutation("deaths: noticed at the end of the run", MEMORY, "reason = DEATH", "reason = DONE"),
    Mutation("deaths: restart within the window", CORE_NETWORK, ", w.memory[:, L.Z_RESTART].min(initial=L.FAR)", ""),
    Mutation("deaths: lost a moment later", LOSS, "kill(world, h, died_ns, ", "kill(world, h, died_ns + 1, "),
    Mutation("deaths: up a moment later", DEATHS, "return died_ns + self._restart_after_ns", "return died_ns + self._restart_after_ns + 1"),
    Mutation(
        "deaths: nobody forgets that it died", LOSS, "world.arrays.memory[h, L.Z_DIED] = -1", "world.arrays.memory[h, L.Z_DIED] = died_ns"
    ),
    Mutation("deaths: the supervisor ends other losses", DEATHS, "if not is_lost(self.host, self.losses):", "if True:"),
    Mutation("deaths: faults end them", FAULTS, "control.losses = losses", "control.losses = lost"),
    Mutation("deaths: restarts after faults of the time", FAULTS, "return [*supervisors, *faults]", "return [*faults, *supervisors]"),
    Mutation(
        "deaths: what is under way is overtaken",
        LOSS,
        "    host_failure.recall_arrivals(w, h)\n",
        "    w.link[w.link[:, L.LINK_SOURCE] == h, L.LINK_ARRIVED] = 0\n",
    ),
    Mutation("memory: bytes of a channel do not bind", CREDITS, "return min(bounds)", "return bounds[0]"),
    Mutation("memory: channels do not share", CREDITS, "self.per_instance_bytes // inputs // ", "self.per_instance_bytes // "),
    # hosts that are lost
    Mutation("loss: what is lost is not counted", MESSAGE_KERNELS, "M_RECEIVER], I_LOST] += 1", "M_RECEIVER], I_LOST] += 0"),
    Mutation("loss: what was not sent is not counted", LOSING, "inst[i, I_UNSENT] += copies * count", "pass"),
    Mutation("loss: copies that were sent count as unsent", LOSING, "O_PARALLEL] - sent", "O_PARALLEL]"),
    Mutation("loss: a sink's record is not counted", LOSING, "inst[i, I_UNSENT] += 1\n", "inst[i, I_UNSENT] += 0\n"),
    Mutation("loss: one nanosecond saves what is sent", LOSING, "msg[slot, g[G_LEFT]] > now)", "msg[slot, g[G_LEFT]] > now + 1)"),
    Mutation("loss: what leaves at that moment is lost", LOSING, "msg[slot, g[G_LEFT]] > now)", "msg[slot, g[G_LEFT]] >= now)"),
    Mutation(
        "loss: the egress link is not free",
        LOSING,
        "host[h, H_LINK_FREE] = min(host[h, H_LINK_FREE], now)",
        "host[h, H_LINK_FREE] += 0",
    ),
    Mutation("loss: a link of its own is not free", LOSING, "link[k, LINK_FREE] = min(link[k, LINK_FREE], now)", "link[k, LINK_FREE] += 0"),
    Mutation(
        "loss: what waits at a cut is sent after all",
        LOSING,
        "LINK_FREE], now)\n            lose_held(world, k)\n",
        "LINK_FREE], now)\n",
    ),
    Mutation("loss: what waits at a cut gets there", LOSING, "if link[k, LINK_TARGET] == h:", "if link[k, LINK_TARGET] == -1 - h:"),
    Mutation(
        "loss: what left before is overtaken",
        LOSING,
        "link[k, LINK_ARRIVED] = max(link[k, LINK_ARRIVED], rings[2 * x + 1, at & mask, RING_TIME])",
        "link[k, LINK_ARRIVED] += 0",
    ),
    Mutation("loss: what is under way gets there", LOSING, "lose_arrivals(world, h, FAR)", "lose_arrivals(world, h, 0)"),
    Mutation("loss: hand-overs on the host survive", LOSING, "host[h, H_LOCAL] = host[h, H_LOCAL_TAIL]", "host[h, H_LOCAL] += 0"),
    Mutation("loss: what a pool serves ends after all", LOSING, "    host[h, H_AGENDA] = 0\n", ""),
    Mutation("loss: threads of shared cores go on", LOSING, "    host[h, H_RUNNING] = 0\n", ""),
    Mutation("loss: the quota is not used", LOSING, "host[h, H_QUOTA_LEFT] -= worked * host[h, H_RUNNING]", "host[h, H_QUOTA_LEFT] -= 0"),
    Mutation("loss: all of a service counts as work", LOSING, "inst[i, I_BUSY] -= left", "inst[i, I_BUSY] -= 0"),
    Mutation(
        "loss: sources read again",
        LOSING,
        "inst[i, I_STATUS] = DOWN\n",
        "inst[i, I_LOG] -= 1 if inst[i, I_SOURCE] == 1 and inst[i, I_STATUS] == SERVING else 0; inst[i, I_STATUS] = DOWN\n",
    ),
    Mutation("loss: watermarks survive", LOSING, "inst[i, I_WATERMARK] = -FAR", "inst[i, I_WATERMARK] += 0"),
    Mutation("loss: watermarks of channels survive", LOSING, "chan[c, C_WATERMARK] = -FAR", "chan[c, C_WATERMARK] += 0"),
    Mutation("loss: the largest event time survives", LOSING, "inst[i, I_NEWEST_EVENT] = -FAR", "inst[i, I_NEWEST_EVENT] += 0"),
    Mutation("loss: the warm-up goes on", LOSING, "inst[i, I_COLD] = inst[i, I_IN]", "inst[i, I_COLD] += 0"),
    Mutation("loss: turns go on", LOSING, "chan[c, C_TURN] = 0", "chan[c, C_TURN] += 0"),
    Mutation("loss: state survives", LOSING, "elif values == 1:", "elif values == 2:"),
    Mutation("loss: distinct values survive", LOSING, "lost = inst[entry[entry[e, S_PANE], S_OWNER], I_HOST] == h", "lost = False"),
    Mutation("loss: rows of panes survive", LOSING, "            panes_of[at] = -1\n", ""),
    Mutation("loss: what is held survives", LOSING, "memory[h, Z_HELD] = 0", "memory[h, Z_HELD] += 0"),
    Mutation("loss: a full host stays full", LOSING, "memory[h, Z_FULL] = 0", "memory[h, Z_FULL] += 0"),
    Mutation("loss: credits come back at once", LOSING, "back = credit_back(link, latency[h, h2], now)", "back = now"),
    Mutation("loss: credits come back over the wrong way", LOSING, "credit_back(link, latency[h, h2]", "credit_back(link, latency[h2, h]"),
    Mutation("loss: credits come back late to its own senders", LOSING, "        back = 0\n", "        back = now + 1_000_000\n"),
    Mutation("loss: credits are not renewed", LOSING, "            world.credit[k] = back\n", "            pass\n"),
    Mutation("loss: credits are counted on", LOSING, "chan[c, C_CONSUMED] = world.carried[c, SEQ_SENT]", "chan[c, C_CONSUMED] += 0"),
    Mutation("loss: who waits for a credit is not woken", LOSING, "BLOCKED and back < inst[i, I_WAKE]:", "BLOCKED and back < 0:"),
    Mutation(
        "loss: credits of those who are gone",
        MESSAGES,
        "if msg[slot, M_INCARNATION] != inst[chan[channel, C_SENDER], I_INCARNATION]:",
        "if bound < 0:",
    ),
    Mutation("loss: who is down serves what comes", WINDOW, "if host[h, H_BACK] > 0:  # it is down", "if host[h, H_BACK] > FAR:"),
    Mutation(
        "loss: up again a nanosecond early",
        LOSS,
        "w.host[h, L.H_RESUME] = w.next_ns[h] = now_ns + 1",
        "w.host[h, L.H_RESUME] = w.next_ns[h] = now_ns",
    ),
    Mutation("loss: a tick at the restart", ARRANGEMENT, "(now_ns - start_ns) // period_ns + 1)", "-(-(now_ns - start_ns) // period_ns))"),
    Mutation("loss: ticks behind the end of the log", ARRANGEMENT, "tick_ns if tick_ns <= w.g[L.G_HORIZON] else L.FAR", "tick_ns"),
    Mutation("loss: the dead are up again", LOSS, "if w.memory[h, L.Z_DIED] >= 0:", "if w.memory[h, L.Z_DIED] >= L.FAR:"),
    Mutation("loss: a loss for ever ends", LOSS, "= max(int(w.host[h, L.H_BACK]), back_ns)", "= back_ns"),
    Mutation("loss: the first restart counts", HOST_LOSS, "if not is_lost(self.host, self.losses):", "if True:"),
    Mutation("loss: who is back stands still", LOSS, "w.host[h, [L.H_BACK, L.H_PAUSED]] = 0", "w.host[h, L.H_BACK] = 0"),
    # emission and credits
    Mutation(
        "rebalance starts with receiver 0",
        EMISSION,
        "r = (k + turn)",
        "r = turn",
    ),
    Mutation("watermark to one receiver only", EMISSION, "if partitioning == BROADCAST or not is_record:", "if partitioning == BROADCAST:"),
    Mutation("a record leaves by every port", EMISSION, "and is_record and msg[slot, M_EDGE] != edge[e, E_OUTPUT]:", "and False:"),
    Mutation("the next message begins at the last edge", EMISSION, "inst[i, I_EDGE] = op[o, O_EDGE]\n    free", "free"),
    Mutation("split counts one predicate", SPLIT, "box[BOX_WORK] = tried", "box[BOX_WORK] = 1"),
    Mutation("split sends copies to the last route only", SPLIT, "msg[made, M_EDGE] = k", "msg[made, M_EDGE] = par[at + X_COUNT] - 1"),
    Mutation("credit one instant too late", EMISSION, "if credit[ticket] > t:", "if credit[ticket] >= t:"),
    Mutation("credit used twice", SENDING, "credit[ticket] = FAR\n", "credit[ticket] = credit[ticket]\n"),
    Mutation("credit of the wrong record", MESSAGES, "chan[channel, C_CONSUMED] % bound", "(chan[channel, C_CONSUMED] + 1) % bound"),
    Mutation("credit returns over the wrong way", MESSAGES, "credit_back(link, latency[h, h2], t)", "credit_back(link, latency[h2, h], t)"),
    Mutation("wake-up of another host lost", MESSAGES, "if back < next_ns[h2]:", "if back < 0:"),
    # watermarks, panes, state
    Mutation("equal watermark sent again", MESSAGES, "inst[i, I_LAG] > inst[i, I_WATERMARK]", "inst[i, I_LAG] >= inst[i, I_WATERMARK]"),
    Mutation("a late watermark lowers", SOURCES, "if log[line, D_EVENT] > inst[i, I_WATERMARK]:", "if log[line, D_EVENT] > -FAR:"),
    Mutation("the next record comes at its own time", SOURCES, "log[line + 1, D_APPEND] += shift", "log[line + 1, D_APPEND] += 0"),
    Mutation(
        "a shift counts from the shifted time",
        SOURCES,
        "shift = inst[i, I_SHIFT] + t - log[line, D_APPEND]",
        "shift = t - log[line, D_APPEND]",
    ),
    Mutation("the end of a log is put off", SOURCES, "< inst[i, I_LOG_END] and log[line + 1, D_TRIGGER] >= 0:", "< inst[i, I_LOG_END]:"),
    Mutation("a watermark in the log is a record", SOURCES, "        kind = WATERMARK\n", "        kind = RECORD\n"),
    Mutation(
        "watermark of one channel for all", MESSAGES, "if chan[inputs[q], C_WATERMARK] < least:", "if chan[inputs[q], C_WATERMARK] < FAR:"
    ),
    Mutation(
        "last tick of the source forgotten",
        ARRIVALS,
        "if moment + inst[i, I_PERIOD] <= horizon:",
        "if moment + inst[i, I_PERIOD] < horizon:",
    ),
    Mutation("shared cores not taxed", SHARING, "else host[h, H_TAXED] // running", "else host[h, H_UNITS] // running"),
    Mutation(
        "quota counted for one thread", SHARING, "host[h, H_QUOTA_LEFT] -= spent * host[h, H_RUNNING]", "host[h, H_QUOTA_LEFT] -= spent"
    ),
    Mutation("quota never renewed", SHARING, "host[h, H_QUOTA_LEFT] = host[h, H_QUOTA]", "host[h, H_QUOTA_LEFT] += 0"),
    Mutation(
        "completion of a thread one unit late",
        COMPLETIONS,
        "tags[member, DUE_KEY] <= host[h, H_WORK]:",
        "tags[member, DUE_KEY] < host[h, H_WORK]:",
    ),
    Mutation(
        "turns out of order", HEAPS, "turns[a, TURN_READY] < turns[b, TURN_READY] or", "turns[a, TURN_READY] > turns[b, TURN_READY] or"
    ),
    Mutation("a processor is not given back", COMPLETIONS, "        host[h, H_IDLE] += 1\n", "        pass\n"),
    Mutation("heap of threads out of order", HEAPS, "if heap[base + up, DUE_KEY] < key or", "if heap[base + up, DUE_KEY] > key or"),
    Mutation("late one nanosecond too late (aggregate)", AGGREGATE, "if start + size <= freed:", "if start + size < freed:"),
    Mutation("late one nanosecond too late (join)", PAIRS, "if start + size <= closed_to:", "if start + size < closed_to:"),
    Mutation(
        "rows of a pane by falling age",
        STATE_TABLE,
        "while x >= 0 and pane[x, W_START] < start:",
        "while x >= 0 and pane[x, W_START] > start:",
    ),
    Mutation("state shared between instances", STATE_TABLE, "and entry[e, S_OWNER] == owner ", ""),
    Mutation("state shared between panes", STATE_TABLE, " and entry[e, S_PANE] == pane_start", ""),
    Mutation("newest contributor forgotten", PAIRS, "max(msg[made, M_NEWEST], row[r, R_NEWEST])", "msg[made, M_NEWEST]"),
    Mutation("a join's older event time", PAIRS, "max(msg[made, M_EVENT], row[r, R_EVENT])", "min(msg[made, M_EVENT], row[r, R_EVENT])"),
    # joins
    Mutation("pairs of the last pane only", JOIN, "matches += entry[e, other] * listened", "matches = entry[e, other] * listened"),
    Mutation(
        "a sliding join stores in one pane",
        JOIN,
        "        if panes > 1:\n            e = find_entry(",
        "        if panes > 9:\n            e = find_entry(",
    ),
    Mutation("lateness forgotten when freeing", JOIN, "limit - par[at + JOIN_LATENESS]", "limit"),
    Mutation("lateness forgotten on arrival", PAIRS, "inst[i, I_WATERMARK] - par[at + JOIN_LATENESS]", "inst[i, I_WATERMARK]"),
    Mutation(
        "late records at the other side's port",
        PAIRS,
        "msg[slot, M_EDGE] = par[at + JOIN_LEFT_LATE + port]",
        "msg[slot, M_EDGE] = 2 - port",
    ),
    Mutation("the pane's end ignored", PAIRS, "if par[at + JOIN_LEFT_END + port] >= 0:", "if par[at + JOIN_LEFT_END + port] > FAR:"),
    Mutation("bytes of the freed side mixed up", PAIRS, "* par[at + JOIN_LEFT_BYTES + side]", "* par[at + JOIN_LEFT_BYTES]"),
    Mutation("a pane fires twice", WINDOW_JOIN, "fired_to = -FAR if by_timer else inst[i, I_WATERMARK]", "fired_to = -FAR"),
    Mutation(
        "nothing after the firing",
        WINDOW_JOIN,
        "if start + size <= fired_to and entry[e, other] > 0",
        "if start + size < -FAR and entry[e, other] > 0",
    ),
    Mutation(
        "the last one is always on the left",
        WINDOW_JOIN,
        "row[left, extra + WINDOW_ROW_STORED] > row[right, extra + WINDOW_ROW_STORED]",
        "row[left, extra + WINDOW_ROW_STORED] > 0",
    ),
    Mutation("contributors of the pair only", WINDOW_JOIN, "max(entry[e, S_ALL_NEWEST], msg[slot, M_NEWEST])", "msg[slot, M_NEWEST]"),
    Mutation(
        "upper bound exclusive",
        INTERVAL_JOIN,
        "elif event <= last and time <= row[r, extra + INTERVAL_ROW_LAST]:",
        "elif event <= last and time < row[r, extra + INTERVAL_ROW_LAST]:",
    ),
    Mutation(
        "lower bound exclusive", INTERVAL_JOIN, "if time + lower <= event and event <= last:", "if time + lower < event and event <= last:"
    ),
    Mutation("a record at the watermark is late", INTERVAL_JOIN, "if time < closed_to:", "if time <= closed_to:"),
    Mutation(
        "freed one nanosecond too late",
        INTERVAL_JOIN,
        "row[r, extra + INTERVAL_ROW_LAST] < closed_to",
        "row[r, extra + INTERVAL_ROW_LAST] < closed_to - 1",
    ),
    Mutation("a heap loses a child", INTERVAL_JOIN, "row[a, last + 2] = row[a, last + 1]", "row[a, last + 2] = -1"),
    Mutation("the last of a key freed wrongly", INTERVAL_JOIN, "entry[e, own + 2] = before", "entry[e, own + 2] = -1"),
    Mutation(
        "expiry one nanosecond too late",
        EXPIRING_JOIN,
        "row[r, extra + EXPIRY_ROW_EXPIRES] <= now",
        "row[r, extra + EXPIRY_ROW_EXPIRES] < now",
    ),
    Mutation(
        "kept after the first match",
        EXPIRING_JOIN,
        "row[r, extra + EXPIRY_ROW_ENTRY] = -1",
        "row[r, extra + EXPIRY_ROW_ENTRY] = row[r, extra + EXPIRY_ROW_ENTRY]",
    ),
    Mutation(
        "stored although it has matched", EXPIRING_JOIN, "if matches == 0 or par[at + EXPIRY_LEFT_KEEP + port] != UNMATCHED:", "if True:"
    ),
    # cycles
    Mutation("watermarks go round", EMISSION, "(msg[slot, M_KIND] == WATERMARK or ", "("),
    Mutation(
        "trigger of the first record",
        AGGREGATION,
        "    entry[e, S_TRIGGER] = msg[slot, M_TRIGGER]",
        "    entry[e, S_TRIGGER] = max(entry[e, S_TRIGGER], msg[slot, M_TRIGGER])",
    ),
    # aggregates
    Mutation("lateness of panes forgotten", AGGREGATE, "freed = ended - par[at + AGG_LATENESS]", "freed = ended"),
    Mutation("event time of a late update", AGGREGATE, "            event = end - 1\n", "            event = end\n"),
    Mutation("ended panes give their rows again", AGGREGATE, "AGG_ON_CLOSE] == 1 and pane[x, W_END] > ended\n", "AGG_ON_CLOSE] == 1\n"),
    Mutation("reading what is stored is free", AGGREGATE, "    box[BOX_READ] = read\n", "    box[BOX_READ] = 0\n"),
    Mutation("reading for an early row costs one record", AGGREGATE, "box[BOX_READ] += count", "box[BOX_READ] += 1"),
    Mutation("the record of a row is not in it", AGGREGATE, "count = entry[e, S_COUNT] + 1", "count = entry[e, S_COUNT]"),
    Mutation(
        "distinct values shared by groups",
        AGGREGATION,
        "x = find_entry(table, entry, par[line + 4], word, e)",
        "x = find_entry(table, entry, par[line + 4], word, at - at)",
    ),
    Mutation(
        "distinct values outlive their group",
        AGGREGATION,
        "forget_values(par, at, inst, i, table, entry, g, e)\n    rows =",
        "rows =",
    ),
    Mutation(
        "distinct values of all aggregates in one", AGGREGATION, "word, e)\n                if x < 0:", "word, e)\n                if True:"
    ),
    Mutation("oldest contributor forgotten", AGGREGATION, "if first or msg[slot, M_OLDEST] < entry[e, S_OLDEST]:", "if first:"),
    Mutation("stored records read once only", AGGREGATION, "        fresh = 1\n        steps", "        steps"),
    Mutation("late records leave by the wrong port", AGGREGATION, "msg[slot, M_EDGE] = LATE", "msg[slot, M_EDGE] = 0"),
    Mutation("touching sessions stay apart", SESSION, "time <= entry[x, SESSION_END]", "time < entry[x, SESSION_END]"),
    Mutation("a session joined keeps its end", SESSION, "entry[e, SESSION_END] = entry[b, SESSION_END]", "pass"),
    Mutation("joining sessions is free", SESSION, "box[BOX_WORK] = 2", "box[BOX_WORK] = 1"),
    Mutation("distinct values of joined sessions counted twice", SESSION, "if y < 0:", "if True:"),
    Mutation(
        "sessions that end together by falling key", SESSION, "entry[b, S_KEY] < entry[a, S_KEY]", "entry[b, S_KEY] > entry[a, S_KEY]"
    ),
    Mutation(
        "heap loses a branch",
        SESSION,
        "entry[a, tree + HEAP_RIGHT] = entry[a, tree + HEAP_LEFT]",
        "entry[a, tree + HEAP_RIGHT] = -1",
    ),
    Mutation("heap forgets which branch it takes out", SESSION, "elif entry[up, tree + HEAP_LEFT] == e:", "elif up >= 0:"),
    Mutation("a session ends at its end", SESSION, "next_due = entry[e, SESSION_END] + 1", "next_due = entry[e, SESSION_END]"),
    Mutation("kept sessions give their rows again", SESSION, "if rows > 0 and end + 1 > ended:", "if rows > 0:"),
    Mutation(
        "a session that grows leaves its tick",
        SESSION,
        "inst[i, I_TICK] = entry[panes_of[queue + QUEUE_ROOT], tree + HEAP_DUE]",
        "inst[i, I_TICK] = min(inst[i, I_TICK], entry[panes_of[queue + QUEUE_ROOT], tree + HEAP_DUE])",
    ),
    Mutation(
        "windows of all records end by key",
        COUNT_WINDOW,
        "seen = find_entry(table, entry, i, 0, SEEN)",
        "seen = find_entry(table, entry, i, key, SEEN)",
    ),
    Mutation("a firing of all records reads nothing", AGGREGATION, "world.box[BOX_READ] += steps", "world.box[BOX_READ] += 0"),
    Mutation("windows of records begin one late", COUNT_WINDOW, "first = number // step", "first = (number + 1) // step"),
    Mutation(
        "windows of records too long",
        COUNT_WINDOW,
        "windows = (number + length) // step - first",
        "windows = (number + length) // step - first + 1",
    ),
    Mutation("full windows are kept", COUNT_WINDOW, "            drop_group(world", "            pass  # drop_group(world"),
    # moving keyed state
    Mutation("moved rows in reverse", MOVING, "row[last, R_NEXT] = r", "row[r, R_NEXT] = last"),
    Mutation("moved values without one", MOVING, "range(v + count - 1, v - 1, -1)", "range(v + count - 1, v, -1)"),
    Mutation(
        "moved entries under another key", MOVING, "entries[n, S_KEY], entries[n, S_PANE])", "entries[n, S_KEY] + 1, entries[n, S_PANE])"
    ),
    Mutation("moved panes end later", MOVING, "end = start + size\n", "end = start + size + 1\n"),
    Mutation("moved panes in the first list", MOVING, "first + group_of(entry[e, S_KEY], scheme, groups), start", "first, start"),
    Mutation("moved away, but kept in panes", STATE_TABLE, "    panes_of[at] = -1\n", ""),
    Mutation("moved sessions lose the heap", SESSION, "    panes_of[queue + QUEUE_ROOT] = -1\n    for n in", "    for n in"),
    Mutation(
        "moved records expire by place",
        EXPIRING_JOIN,
        'np.argsort(w.row[rows, extra + EXPIRY_ROW_EXPIRES], kind="stable")',
        "np.argsort(rows)",
    ),
    Mutation(
        "moved records of the other side", EXPIRING_JOIN, "2 * entries[:, None] + np.arange(2)", "2 * entries[:, None] + 1 - np.arange(2)"
    ),
    Mutation("moved records keep their heap", INTERVAL_JOIN, "row[r, extra + INTERVAL_ROW_ENTRY] = 2 * entries[n] + port", "pass"),
    Mutation("moved bytes without the keys", PAIRS, "sizes: Words = w.par[at + JOIN_KEY_BYTES] + entries", "sizes: Words = entries"),
    # further latencies
    Mutation("clock of another trigger", LATENCIES, "elif how == ADDED:", "elif how == PAIRED:"),
    Mutation("clock of the newest so far", LATENCIES, "to[a, c] = max(to[a, c], value)", "to[a, c] = value"),
    Mutation("clock of the oldest so far", LATENCIES, "to[a, c] = min(to[a, c], value)", "to[a, c] = value"),
    Mutation("clock of the emission after the way", SENDING, "- 1 - stamps] = t", "- 1 - stamps] = t + local_ns"),
    Mutation("clock of a group's last record", AGGREGATION, "copy_stamps(msg, made, entry, e, stamps)", "pass"),
    Mutation("clock of a pair's stored side", PAIRS, "join_stamps(msg, made, row, r, world.g, stamps, PAIRED)", "pass"),
    Mutation("clock of a window of pairs", WINDOW_JOIN, "join_stamps(entry, e, msg, slot, g, stamps, PAIRED)", "pass"),
    Mutation("clock of the later session", SESSION, "join_stamps(entry, e, entry, b, g, stamps, MERGED)", "pass"),
    Mutation("a mixed clock of a group is the oldest", LATENCIES, "anchor == MIXED and how != PAIRED", "anchor == MIXED and how == MERGED"),
    Mutation("a mixed clock of sessions that meet is the oldest", SESSION, "b, g, stamps, MERGED)", "b, g, stamps, PAIRED)"),
    # expressions
    Mutation("quotients rounded up", MACHINE, "stack[top] = stack[top] // stack[top + 1]", "stack[top] = -(-stack[top] // stack[top + 1])"),
    Mutation("halves rounded down", MACHINE, "elif fraction <= -0.5:", "elif fraction < -0.5:"),
    Mutation("what fits no int is no error", MACHINE, "9223372036854775808.0 else 1", "9223372036854775808.0 else 0"),
    Mutation("two kinds of NaN hashed", COMPILER, "            self.emit(machine.ONE_NAN)\n        elif", "        elif"),
    Mutation("hash of the last value alone", MACHINE, "x ^= seed + 2870177450012600269", "x ^= 2870177450012600269"),
    Mutation("March is the first month", MACHINE, "return month + 3 if month < 10 else month - 9", "return month + 1"),
    Mutation("all functions of texts look into one table", TEXTS, "start[self._functions.index(function)]", "start[0]"),
    Mutation("texts ordered as they came", TEXTS, "enumerate(sorted(texts))", "enumerate(texts)"),
    Mutation(
        "the other branch of an `if`",
        MACHINE,
        "elif operation == JUMP_IF_FALSE:\n            if stack[top] == 0:",
        "elif operation == JUMP_IF_FALSE:\n            if stack[top] != 0:",
    ),
    # growth
    Mutation(
        "ring copied without its wrap",
        WORLD,
        "rings[r, positions & (new - 1)] = w.rings[r, positions & (old - 1)]",
        "rings[r, :old] = w.rings[r]",
    ),
    Mutation("free messages mixed up in growth", WORLD, "= w.free[:count]", "= w.free[0]"),
    # ranks and holds
    Mutation("rank: wakes who is held", RANKS, "np.where(w.tally[instances, L.Y_HELD] == 1, HELD, ranks)", "ranks", RANKED),
    Mutation("rank: lost while held", RANKS, "HELD if held else w.tally[instances, L.Y_RANK]", "HELD if held else 0", RANKED),
    Mutation("rank: heaps keep the old ones", RANKS, "bulk.choose_anew(w, h)", "pass", RANKED),
    # queries
    Mutation("query: records keep their event times", FEED, "self.event_ns + start_ns", "self.event_ns", QUERIES),
    Mutation("query: times in records stay", FEED, "self.words[:, timestamps] += start_ns", "pass", QUERIES),
    Mutation("query: records after the horizon", FEED, "start_ns, horizon_ns - start_ns", "start_ns, horizon_ns", QUERIES),
    Mutation(
        "query: windows of an aggregate on one grid", AGGREGATE, "seconds_ns(origin_s) + lowering.start_ns", "seconds_ns(origin_s)", QUERIES
    ),
    Mutation("query: windows of a join on one grid", PAIRS, "seconds_ns(origin_s) + lowering.start_ns", "seconds_ns(origin_s)", QUERIES),
    Mutation("query: ticks on one grid", PLAN, "starts_ns.get(spec.id, 0) + marks.period_ns", "marks.period_ns", QUERIES),
    Mutation(
        "query: ticks on one grid after a loss", ARRANGEMENT, "start_ns = int(w.op[inst[L.I_OP], L.O_START])", "start_ns = 0", QUERIES
    ),
    Mutation("query: a start that depends on the number of copies", COPIES, "query.named(copy)", "query.copies", QUERIES),
    Mutation(
        "query: all copies feed the first",
        COPIES,
        "numbered(id, k if id in inside else None)",
        "numbered(id, 0 if id in inside else None)",
        QUERIES,
    ),
    Mutation("query: copies on the host of the first", COPIES, "first[spec.id][k * p : (k + 1) * p]", "first[spec.id][:p]", QUERIES),
    Mutation(
        "query: a latency of another query", DRAWN, "counts[name][copy] += histogram[row]", "counts[name][0] += histogram[row]", QUERIES
    ),
    Mutation(
        "query: instances of copies share an index",
        DRAWN,
        "np.arange(len(inst)) - op[inst[:, L.I_OP], L.O_FIRST]",
        "w.inst[:, L.I_INDEX]",
        QUERIES,
    ),
)
