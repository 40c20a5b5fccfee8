"""Incremental checkpoints, broken one line at a time, each with the tests that ought to notice."""

from __future__ import annotations

from .core import Mutation

DELTA, DELTAS = "engine/core/control/state_delta.py", ("tests/engine/core/test_state_delta.py",)
CHAINS, CHAINED = "engine/checkpointing/chains.py", ("tests/engine/checkpointing/test_incremental.py",)
WORKER, ROUNDS, SEARCHED = (f"engine/checkpointing/{name}.py" for name in ("worker", "coordinated", "uncoordinated"))
CACHE, TREE, STORE, RESTORES = (f"engine/state/{name}.py" for name in ("kernels", "tree", "store", "restoring"))
CACHES, TREES, STORES, TIMES = ((f"tests/engine/state/{name}.py",) for name in ("test_cache", "test_tree", "test_store", "test_restoring"))
JOIN, JOINS = "engine/operators/expiring_join.py", ("tests/engine/core/test_exactness.py",)
OPERATIONS, WORKED = CACHE, ("tests/engine/state/test_operations.py",)
AGGREGATE, RUNS, RUN = "engine/operators/aggregate.py", "engine/state/stores.py", ("tests/engine/state/test_stores.py",)
BROKER, BROKERS = "engine/services/broker.py", ("tests/engine/services/test_broker.py",)
COMMITS, CONTENTS, RECOVERY = (f"engine/state/{name}.py" for name in ("commits", "contents", "recovery"))
TOPICS, KEYED, OF_OPERATOR = "engine/services/topics.py", "engine/core/control/keyed_state.py", "engine/state/operations.py"
ADJUSTING, ADJUSTED = "engine/state/adjusting.py", ("tests/engine/state/test_adjusting.py",)
RECOVERED = ("tests/engine/state/test_recovery.py",)
LOGS, WINDOWS_LOG, STATE_TABLE = "engine/state/output_logs.py", "engine/state/windows_log.py", "engine/core/kernels/state_table.py"
REPLAYED = ("tests/engine/state/test_output_logs.py",)
STANDBYS, SENDING, MIRRORED = (
    "engine/state/standbys.py",
    "engine/core/kernels/event_loop/sending.py",
    ("tests/engine/state/test_standbys.py",),
)
OUTPUT_LOG, OUTPUT_LOGS = "engine/state/output_log.py", ("tests/engine/state/test_output_log.py",)

MUTATIONS = (
    Mutation(
        "deltas: changed words are kept", DELTA, "entries[is_written] = delta.entries", "entries[is_written] = entries[is_written]", DELTAS
    ),
    Mutation(
        "deltas: rows in the order before",
        DELTA,
        "rows[delta.row_origin >= 0] = before.rows[delta.row_origin[delta.row_origin >= 0]]",
        "rows[delta.row_origin >= 0] = before.rows[np.sort(delta.row_origin[delta.row_origin >= 0])][::-1]",
        DELTAS,
    ),
    Mutation("deltas: distinct values of before", DELTA, "values[is_new] = delta.values", "values[is_new] = 0", DELTAS),
    Mutation(
        "deltas: entries of another pane",
        DELTA,
        "before.entries[origin[found], L.S_PANE] == after.entries[found, L.S_PANE]",
        "True",
        DELTAS,
    ),
    Mutation("deltas: new rows change no entry", DELTA, "is_written[of_row[row_origin < 0]] = True", "pass", DELTAS),
    Mutation("deltas: rows that went are not missed", DELTA, "(had > counts[1]) | (differs > 0)", "(had > counts[1])", DELTAS),
    Mutation(
        "deltas: bytes of the whole entry", DELTA, "entries[:, counts_of_rows(w, i)] = new_rows[is_written]", "pass", (*DELTAS, *CHAINED)
    ),
    Mutation("deltas: what is gone is not counted", DELTA, "int((~is_left).sum()) + rows_gone", "0", DELTAS),
    Mutation("chains: no whole one in between", CHAINS, "chain is None or chain.length >= most", "chain is None", CHAINED),
    Mutation("chains: the last link alone", CHAINS, "    for link in others:\n", "    for link in others[-1:]:\n", CHAINED),
    Mutation("chains: built on the first", CHAINS, "chain.start, chain.last)", "chain.start, chain.start)", CHAINED),
    Mutation("chains: go on over a refused one", WORKER, "        machine.chains.pop(i, None)\n", "", CHAINED),
    Mutation("chains: durable before their base", WORKER, " or (upload.base, i) in machine.uploads", "", CHAINED),
    Mutation(
        "chains: old links are deleted", ROUNDS, "min((row[M.START] for row in last.taken), default=last.number)", "last.number", CHAINED
    ),
    Mutation("chains: nothing is deleted", ROUNDS, "min((row[M.START] for row in last.taken), default=last.number)", "0", CHAINED),
    Mutation(
        "chains: settled links are forgotten",
        SEARCHED,
        "[self.taken[i][index - 1][0][M.START] if index else 0 for",
        "[self._number(i, index) for",
        CHAINED,
    ),
    Mutation("caches: scans write nothing", CACHE, "write_out(place, counts, out, now, OF_SCAN)", "pass", CACHES),
    Mutation("caches: evicted unwritten", CACHE, "write_out(place, counts, out, now, OF_EVICTION)", "pass", CACHES),
    Mutation("caches: what was used last goes", CACHE, "p = counts[K_OLDEST]", "p = counts[K_NEWEST]", CACHES),
    Mutation("caches: absorbed changes are not counted", CACHE, "counts[K_ABSORBED] += 1", "pass", CACHES),
    Mutation("caches: written at one more than a batch", CACHE, "counts[K_DIRTY] >= batch", "counts[K_DIRTY] > batch", CACHES),
    Mutation("trees: tombstones go in any merge", TREE, "if not any(self.levels[to + 1 :]):", "if True:", TREES),
    Mutation("trees: tombstones never go", TREE, "if not any(self.levels[to + 1 :]):", "if False:", TREES),
    Mutation("trees: the oldest version", TREE, "is_last[:-1] = keys[1:] != keys[:-1]", "is_last[1:] = keys[1:] != keys[:-1]", TREES),
    Mutation("trees: no write waits", TREE, "return now_ns\n\n    def _begin", "return 0\n\n    def _begin", TREES),
    Mutation("trees: two things at once", TREE, "max(now_ns, self._disk_free_ns) + max", "now_ns + max", TREES),
    Mutation(
        "trees: merged runs come first",
        TREE,
        "level = [*self.levels[to], *(run for run in made if len(run.entries))]",
        "level = [*(run for run in made if len(run.entries)), *self.levels[to]]",
        TREES,
    ),
    Mutation("trees: files that overlap are left", TREE, "if low <= last and high >= first", "if low < first and high >= first", TREES),
    Mutation("stores: what the cache holds is not committed", STORE, "late_ns = self.carry_out(row)", "late_ns = 0", STORES),
    Mutation("stores: one record too many on disk", STORE, "self.log.end - 1, now_ns", "self.log.end, now_ns", STORES),
    Mutation("stores: any local store is used", STORE, "now_ns - self.committed_ns > self.settings.stale_ns", "False", STORES),
    Mutation("stores: a lost disk keeps its offset", STORE, "            self.offset = -1\n", "", STORES),
    Mutation("restores: behind the last key", RESTORES, "np.maximum.accumulate(part)[:-1]", "part[:-1]", TIMES),
    Mutation("restores: one buffer for all", RESTORES, "before + buffer_bytes", "before + 10**15", TIMES),
    Mutation(
        "output logs: the youngest footprint",
        OUTPUT_LOG,
        "                key = next(iter(self._footprints))\n",
        "                key = next(reversed(self._footprints))\n",
        OUTPUT_LOGS,
    ),
    Mutation(
        "output logs: a checkpoint keeps its place",
        OUTPUT_LOG,
        "        del self._footprints[key]\n        self._leave_footprint(key, position)",
        "        self._leave_footprint(key, position)",
        OUTPUT_LOGS,
    ),
    Mutation("output logs: closed windows come back", OUTPUT_LOG, " and record.key not in closed", "", OUTPUT_LOGS),
    Mutation(
        "output logs: one window is not looked for", OUTPUT_LOG, "if len(windows) == wanted:", "if len(windows) >= wanted - 1:", OUTPUT_LOGS
    ),
    Mutation("output logs: from the newest position", OUTPUT_LOG, "behind = min((at", "behind = max((at", OUTPUT_LOGS),
    Mutation(
        "output logs: what a recovery reads is dropped",
        OUTPUT_LOG,
        "to = min(self._oldest()[0], acknowledged)",
        "to = acknowledged",
        OUTPUT_LOGS,
    ),
    Mutation("joins: the latest beside the one before", JOIN, "== LATEST and entry[e, own] > 0", "== LATEST and entry[e, own] > 1", JOINS),
    Mutation(
        "joins: bytes of a replaced record stay",
        JOIN,
        "            entry[e, own] = 0\n            inst[i, I_STATE_BYTES] -= par[at + JOIN_LEFT_BYTES + port]\n",
        "            entry[e, own] = 0\n",
        JOINS,
    ),
    Mutation("joins: a replaced record expires once more", JOIN, "row[entry[e, own + 1], extra + EXPIRY_ROW_ENTRY] = -1", "pass", JOINS),
    Mutation(
        "changes: retained records as one value", AGGREGATE, "CHANGE_ADD if par[at + AGG_ROWS] > 0 else CHANGE_FOLD", "CHANGE_FOLD", RUN
    ),
    Mutation("changes: a window that ends stays", AGGREGATE, "CHANGE_CLEAR if frees else CHANGE_READ", "CHANGE_READ", RUN),
    Mutation("changes: no work", "engine/core/kernels/event_loop/service.py", "    cost_ps += box[BOX_STATE_PS]\n", "", RUN),
    Mutation("changes: deletions cost nothing", "engine/core/kernels/changes.py", "work += count * world.op[o, O_WRITE_PS]", "pass", RUN),
    Mutation(
        "operations: a deleted record is deleted again",
        OPERATIONS,
        "                number = after[number]\n            names[n, NAME_FIRST] = -1\n",
        "                number = after[number]\n",
        WORKED,
    ),
    Mutation("operations: only the last record is deleted", OPERATIONS, "after[names[n, NAME_LAST]] = number", "pass", WORKED),
    Mutation("operations: one number for all records", OPERATIONS, "totals[TOTAL_RETAINED] += 1", "pass", WORKED),
    Mutation("operations: no digits", OPERATIONS, "        left = left // 10\n        found += 1\n", "        left = left // 10\n", WORKED),
    Mutation("operations: windows share their names", OPERATIONS, "names[n, NAME_PANE] == pane and", "True and", WORKED),
    Mutation("senders: a request for each record", OPERATIONS, "elif sender[SEND_BEGAN] < t:", "else:", WORKED),
    Mutation("senders: nothing waits", OPERATIONS, "            sender[SEND_WAITS] = 1\n", "            sender[SEND_WAITS] = 0\n", WORKED),
    Mutation("stores: a commit counts at once", STORE, "self._under_way[0] <= now_ns", "True", RUN),
    Mutation("stores: senders cost nothing", RUNS, "            if fresh:\n", "            if fresh < 0:\n", RUN),
    Mutation("stores: names are not saved", RUNS, 'task.operations.take_over(*part["operations"])', "pass", RUN),
    Mutation("stores: the cut is not forgotten", RUNS, "                part.settle()\n", "                pass\n", RUN),
    Mutation("brokers: cores for all", BROKER, "return max(1.0, wanted / self.settings.cores)", "return 1.0", BROKERS),
    Mutation("brokers: segments cost nothing", BROKER, "cleaning + self.rolled * self.settings.roll_ns", "cleaning", BROKERS),
    Mutation(
        "recovery: what no request had sent is in the log",
        STORE,
        "dropped = self.log.cut_off(int(unsent[0, 0]))",
        "dropped = NONE",
        RECOVERED,
    ),
    Mutation("recovery: changes of the service in progress stay", STORE, "sent_ns = min(sent_ns, serves_since_ns - 1)", "pass", RECOVERED),
    Mutation("recovery: a disk that is ahead is used", STORE, "self.is_ahead = True", "pass", ("tests/engine/state/test_store.py",)),
    Mutation("recovery: a commit does not wait", COMMITS, "w.carried[c, L.SEQ_PROCESSED] < sent", "False", RECOVERED),
    Mutation("recovery: a record in service is not waited for", COMMITS, "serves_since_ns(w, i) == began_ns", "False", RECOVERED),
    Mutation("recovery: positions of the end of a commit", COMMITS, "if self.exact else commit.positions", "", RECOVERED),
    Mutation(
        "recovery: sources read on in a transaction",
        COMMITS,
        "np.array(self.sources, np.int64), True",
        "np.array(self.sources, np.int64), False",
        RECOVERED,
    ),
    Mutation("recovery: positions first", COMMITS, "NOTING if self.offset_first else FLUSHING", "NOTING", RECOVERED),
    Mutation(
        "recovery: a commit outlives its process",
        COMMITS,
        "        self.under_way = None\n\n    def act",
        "        pass\n\n    def act",
        RECOVERED,
    ),
    Mutation(
        "recovery: nothing is read again", RECOVERY, "instance_checkpoint.read_again(world, i, commits.durable.get(i))", "pass", RECOVERED
    ),
    Mutation("recovery: stores are not put back", RECOVERY, "            _put(world, task)\n", "            pass\n", RECOVERED),
    Mutation("recovery: all stores at once", RECOVERY, "free_ns[n] += restored.took_ns", "pass", RECOVERED),
    Mutation("recovery: entries of an older change", RECOVERY, "np.lexsort((changes, own))", "np.lexsort((-changes, own))", RECOVERED),
    Mutation("recovery: places are kept", CONTENTS, "words[:, self._places] = 0", "pass", RECOVERED),
    Mutation("recovery: content of dirty entries is dropped", STORE, "self.cache.dirty_values(), ", "", RECOVERED),
    Mutation("recovery: a transaction is cleaned", TOPICS, "if self.stable >= self.end:", "if True:", RECOVERED),
    Mutation("recovery: names of what is lost", OF_OPERATOR, "names[:, [NAME_FIRST, NAME_LAST]] = -1", "pass", RECOVERED),
    Mutation("recovery: windows that are overdue wait", KEYED, "state.about[2] = min(", "state.about[2] = max(", RECOVERED),
    Mutation(
        "adjusting: the CPU's limit comes last",
        ADJUSTING,
        "-1 if too_busy else 1 if share > 1",
        "1 if share > 1 else -1 if too_busy",
        ADJUSTED,
    ),
    Mutation("adjusting: no look between two steps", ADJUSTING, "if step == self.step or self._waits:", "if step == self.step:", ADJUSTED),
    Mutation("adjusting: at the next moment", ADJUSTING, "while self.next_ns <= now_ns:", "while self.next_ns < now_ns:", ADJUSTED),
    Mutation(
        "adjusting: sleepers sleep on",
        "engine/services/cleaner.py",
        "thread.until_ns = min(thread.until_ns, now_ns + settings.backoff_ns)",
        "pass",
        ADJUSTED,
    ),
    Mutation("adjusting: threads vanish amid a pass", "engine/services/cleaner.py", " and self.threads[n].pass_ is None:", ":", ADJUSTED),
    Mutation("adjusting: the step is not saved", ADJUSTING, "self.step, self.next_ns, verdicts", "_, self.next_ns, verdicts", ADJUSTED),
    Mutation(
        "replays: records that a window includes count again",
        STATE_TABLE,
        "return world.msg[slot, M_SEQUENCE] < world.entry[e, first",
        "return world.msg[slot, M_SEQUENCE] < 0 * world.entry[e, first",
        REPLAYED,
    ),
    Mutation(
        "replays: the next record is skipped, too",
        STATE_TABLE,
        "return world.msg[slot, M_SEQUENCE] < world.entry[e, first",
        "return world.msg[slot, M_SEQUENCE] <= world.entry[e, first",
        REPLAYED,
    ),
    Mutation(
        "replays: a window is restored without what it includes",
        LOGS,
        "entries[:, first : first + covered.shape[1]] = covered",
        "pass",
        REPLAYED,
    ),
    Mutation("replays: closed windows open again", LOGS, "w.inst[i, L.I_WATERMARK] = task.output.closed_ns", "pass", REPLAYED),
    Mutation(
        "replays: what came meanwhile is served before",
        LOGS,
        "        instance_checkpoint.stop(world, host, now_ns, None)  # and so is what has come in the meantime\n",
        "",
        REPLAYED,
    ),
    Mutation(
        "replays: what is under way is served before",
        LOGS,
        "        host_failure.lose_incoming(world.arrays, host)  # all that is for this host is sent again, in its order\n",
        "",
        REPLAYED,
    ),
    Mutation(
        "replays: watermarks are not sent again",
        LOGS,
        "instance_checkpoint.send_marks_on(world, channels[into[channels] & marked], now_ns)",
        "pass",
        REPLAYED,
    ),
    Mutation(
        "replays: results under way are lost",
        LOGS,
        "np.flatnonzero(self._kept & (into | out_of))",
        "np.flatnonzero(self._kept & into)",
        REPLAYED,
    ),
    Mutation(
        "replays: senders forget what a crash may ask for",
        LOGS,
        "is_safe = task.host not in self.open and (since_ns is None or since_ns > noted_ns)",
        "is_safe = True",
        REPLAYED,
    ),
    Mutation(
        "replays: senders forget too much",
        LOGS,
        "first[c] = seen[sender] if is_safe and seen else 0",
        "first[c] = seen[sender] + 1 if is_safe and seen else 0",
        REPLAYED,
    ),
    Mutation("replays: senders forget nothing", LOGS, "            channel_log.forget_before(w, first)\n", "            pass\n", REPLAYED),
    Mutation(
        "replays: records of the service in progress stay",
        LOGS,
        "task.output.crash(serves_since_ns(world.arrays, task.instance))",
        "task.output.crash(None)",
        REPLAYED,
    ),
    Mutation("replays: hosts work for nothing", LOGS, "if written > task.charged and", "if False and", REPLAYED),
    Mutation(
        "replays: all logs are read at once",
        LOGS,
        "free_ns[free_ns.index(min(free_ns))] += round(took_ns)",
        "free_ns[0] = max(free_ns[0], now_ns + round(took_ns))",
        REPLAYED,
    ),
    Mutation(
        "replays: a window opens behind its first record",
        WINDOWS_LOG,
        "found[int(self.senders[n])] = int(self.changes[n, L.CHANGE_SEQUENCE])",
        "pass",
        REPLAYED,
    ),
    Mutation(
        "replays: a checkpoint is older than it says",
        WINDOWS_LOG,
        'np.searchsorted(rows, n, side="right")',
        'np.searchsorted(rows, n, side="left")',
        REPLAYED,
    ),
    Mutation("replays: a checkpoint amid a record", WINDOWS_LOG, "last = batch.last_of_record(n)", "last = n", REPLAYED),
    Mutation(
        "replays: a restored window forgets what it includes",
        WINDOWS_LOG,
        "return np.maximum(self.seen, self.covered[window]) if window in self.covered else self.seen",
        "return self.seen",
        REPLAYED,
    ),
    Mutation("replays: the position after a crash", WINDOWS_LOG, "        self.seen = self.least_seen()\n", "        pass\n", REPLAYED),
    Mutation(
        "replays: the replay may be one longer",
        WINDOWS_LOG,
        'least + replay_max, side="right")',
        'least + replay_max + 1, side="right")',
        REPLAYED,
    ),
    Mutation(
        "replays: the oldest record, not the furthest behind",
        OUTPUT_LOG,
        "        if self._in_order:\n            return next(iter(self._footprints))\n",
        "        return next(iter(self._footprints))\n",
        OUTPUT_LOGS,
    ),
    Mutation("replays: no record stays", WINDOWS_LOG, "self.log.trim(min(to, self.log.end - 1))", "self.log.trim(to)", REPLAYED),
    Mutation(
        "replays: the result in service at a sink is forgotten", LOGS, "L.SEQ_PROCESSED] - 1  # less", "L.SEQ_PROCESSED]  # less", REPLAYED
    ),
    Mutation(
        "replays: results that wait at a sink come twice",
        LOGS,
        "np.maximum(w.carried[channels, L.SEQ_PROCESSED], ends_under_way(world)[channels])",
        "w.carried[channels, L.SEQ_PROCESSED]",
        REPLAYED,
    ),
    Mutation("replays: a result in service at a lost sink is lost", LOGS, "        self._not_delivered(world, host)\n", "", REPLAYED),
    Mutation("stalls: full buffers hold nobody back", RUNS, "hold(world, np.array([task.instance], np.int64), True, now_ns)", "pass", RUN),
    Mutation("stalls: nobody looks again soon", RUNS, "self._look_ns = now_ns + FULL_NS", "pass", RUN),
    Mutation(
        "stalls: a full disk of the broker is not told", RUNS, "if needed > megabytes_bytes(limit_mb) else None", "if False else None", RUN
    ),
    Mutation("standbys: both send their results", STANDBYS, "            _mute(world, pair, 1)\n", "", MIRRORED),
    Mutation(
        "standbys: what is held back is not kept",
        SENDING,
        "        keep_copy(world, c, made)\n        if tracing:\n",
        "        if tracing and gate[c, Q_KEPT_LAST] >= 0:\n",
        MIRRORED,
    ),
    Mutation("standbys: what is held back counts as sent", SENDING, "    host[h, H_OUT_BYTES] -= size\n", "", MIRRORED),
    Mutation(
        "standbys: what is on its way comes again",
        STANDBYS,
        "np.maximum(w.carried[lost, L.SEQ_PROCESSED], under_way[lost])",
        "w.carried[lost, L.SEQ_PROCESSED]",
        MIRRORED,
    ),
    Mutation(
        "standbys: one that is behind sends all of it", STANDBYS, "w.chan[own, L.C_HELD] = first", "w.chan[own, L.C_HELD] = 0", MIRRORED
    ),
    Mutation("standbys: who comes back goes on sending", STANDBYS, "            _mute(world, pair, pair.lost)\n", "", MIRRORED),
    Mutation(
        "standbys: a result that no sink has had is forgotten",
        STANDBYS,
        "first[pair.out_of[1]] = w.carried[pair.out_of[0], L.SEQ_PROCESSED]",
        "first[pair.out_of[1]] = w.carried[pair.out_of[0], L.SEQ_SENT]",
        MIRRORED,
    ),
    Mutation(
        "standbys: nothing is forgotten",
        STANDBYS,
        "first[pair.out_of[1]] = w.carried[pair.out_of[0], L.SEQ_PROCESSED]",
        "pass",
        MIRRORED,
    ),
    Mutation("standbys: the lost one holds sinks back", STANDBYS, "            w.chan[lost, L.C_WATERMARK] = L.FAR\n", "", MIRRORED),
    Mutation(
        "standbys: what is held back has come from nowhere",
        SENDING,
        "        if tracing:\n            note_kept()\n    discard",
        "    discard",
        MIRRORED,
    ),
    Mutation("standbys: they take over at once", STANDBYS, "now_ns + max(self._takeover_ns, 1)", "now_ns + 1", MIRRORED),
    Mutation(
        "standbys: they hold sinks back",
        STANDBYS,
        "            w.chan[pair.out_of[1], L.C_WATERMARK] = L.FAR  # it holds no watermark of its sinks back\n",
        "",
        MIRRORED,
    ),
    Mutation("standbys: a lost one keeps its results", STANDBYS, "if pair.lost == 1:", "if False:", MIRRORED),
)
