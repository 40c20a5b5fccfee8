"""Similarity joins, broken one line at a time."""

from __future__ import annotations

from .core import Mutation

TESTS = ("tests/engine/operators/test_similarity.py",)
SPACES, FORMS, JOIN = (f"engine/operators/{name}.py" for name in ("space_partitioner", "workset_formulation", "similarity_join"))
BALANCING = ("tests/engine/similarity/test_balancing.py",)
LOOP, MOVES = "engine/similarity/loop.py", "engine/similarity/hand_over.py"
MOVING = ("tests/engine/similarity/test_hand_over.py",)
INDEX, TREES = "engine/operators/angle_index.py", "engine/core/kernels/range_tree.py"
TREE_TESTS = ("tests/engine/core/test_range_tree.py", *TESTS)
VIEW, VIEW_TESTS = "engine/similarity/spaces.py", ("tests/engine/similarity/test_spaces.py",)
STORED = "engine/similarity/stored.py"
ESTIMATE, ESTIMATES = "engine/similarity/estimates.py", ("tests/engine/similarity/test_estimates.py",)
CHECK, CHECKS = "engine/workloads/exactness.py", ("tests/workloads/test_exactness.py",)
SHARE, SHARES = "engine/workloads/selectivity.py", ("tests/workloads/test_selectivity.py",)
PARTS = "engine/operators/similarity.py"
ANGLES, DISTANCES = "engine/core/kernels/trigonometry.py", "engine/core/distances"

MUTATIONS = (
    Mutation("spaces: parity of one kind", SPACES, "return (i < j) != ((i + j) % 2 == 1)", "return i < j", TESTS),
    Mutation("spaces: both find them", SPACES, "return (i < j) != ((i + j) % 2 == 1)", "return True", TESTS),
    Mutation("spaces: once the threshold", SPACES, "reach = nearest + 2.0 * par_f", "reach = nearest + par_f", TESTS),
    Mutation("spaces: the last of two as near", SPACES, "home < 0 or far < nearest", "home < 0 or far <= nearest", TESTS),
    Mutation("spaces: distances are free", SPACES, "    box[BOX_READ] = spaces\n", "", TESTS),
    Mutation("spaces: copies are inner", SPACES, "1 if turn == 0 else 0", "1", TESTS),
    Mutation("spaces: no direction is space 0", SPACES, "if far == far and (home", "if (home", TESTS),
    Mutation("clusters: keys by division", SPACES, "+ par[at + SPACE_SPACES] - 1) //", ") //", TESTS),
    Mutation(
        "worksets: half the reach",
        FORMS,
        "            if far <= reach:\n",
        "            if far <= reach / 2.0:\n",
        TESTS,
    ),
    Mutation(
        "worksets: copies to younger ones",
        FORMS,
        "            last = row[r, par[at + FORM_NEAR] + NEAR_NUMBER]\n",
        "            pass\n",
        TESTS,
    ),
    Mutation("worksets: outliers are inner", FORMS, "                role = OUTLIER\n", "                pass\n", TESTS),
    Mutation("worksets: one for all", FORMS, "        opens = nearest > threshold\n", "        opens = r < 0\n", TESTS),
    Mutation("worksets: no copies from before", FORMS, "    if opens:\n        offer_outer(", "    if False:\n        offer_outer(", TESTS),
    Mutation(
        "worksets: copies from before go to all", FORMS, "<= reach and par[at + FORM_LEFT_LISTENED + side] == 1", "<= 2.0 * BEYOND", TESTS
    ),
    Mutation("worksets: other spaces' copies", FORMS, "if entry[e, S_KEY] == key:", "if True:", TESTS),
    Mutation("worksets: distances are free", FORMS, "    world.box[BOX_READ] = measured\n", "    world.box[BOX_READ] = 0\n", TESTS),
    Mutation("worksets: dropped while in use", FORMS, "+ par[at + FORM_UNUSED] * par[at + JOIN_SLIDE] <= ended", "<= ended + 10**7", TESTS),
    Mutation("worksets: dropped ones are measured", FORMS, "if not is_dropped(world, now, e, r, at, i):", "if True:", TESTS),
    Mutation(
        "worksets: use does not keep them",
        FORMS,
        "        row[r, R_LAST_END] = max(row[r, R_LAST_END], start + par[at + JOIN_SIZE])\n",
        "        pass\n",
        TESTS,
    ),
    Mutation(
        "worksets: centroids stay in the state", FORMS, "I_STATE_BYTES] -= par[at + FORM_CENTROID_BYTES]", "I_STATE_BYTES] -= 0", TESTS
    ),
    Mutation(
        "worksets: copies in the first window", FORMS, "    start += (panes - 1) * par[at + JOIN_SLIDE]  # of its last window\n", "", TESTS
    ),
    Mutation("worksets: the last of two as near", FORMS, "if home < 0 or far < nearest", "if home < 0 or far <= nearest", TESTS),
    Mutation("join: inner records are compared", JOIN, "if role == INNER and theirs == INNER:", "if False:", TESTS),
    Mutation("join: outer records match", JOIN, "elif role != OUTER or theirs != OUTER:", "else:", TESTS),
    Mutation("join: below the threshold", JOIN, "if far <= threshold and", "if far < threshold / 1.5 and", TESTS),
    Mutation("join: comparisons are free", JOIN, "    world.box[BOX_READ] += compared\n", "", TESTS),
    Mutation("join: partitions do not matter", JOIN, "and row[r, extra + SIM_ROW_SPACE] == space", "", TESTS),
    Mutation("join: all roles are given", JOIN, "elif par[at + SIM_ROLES] == ROLES_OF_INNER and", "elif False and", TESTS),
    Mutation(
        "pairs: newer ones are counted together",
        JOIN,
        "and row[r, R_NEWEST] <= msg[slot, M_NEWEST]:",
        "and (row[r, R_NEWEST] > 0 or msg[slot, M_NEWEST] > 0):",
        TESTS,
    ),
    Mutation("pairs: counted ones are free", JOIN, "    box[BOX_COUNTED] = matches - outputs\n", "", TESTS),
    Mutation("balancing: at once", FORMS, "if start >= row[r, extra + FORM_ROW_FROM]", "if row[r, extra + FORM_ROW_FROM] < FAR", BALANCING),
    Mutation(
        "balancing: copies go to the first owner",
        FORMS,
        "    owner = worker_of(row, r, extra, start)\n",
        "    owner = row[r, extra + FORM_ROW_WORKER]\n",
        BALANCING,
    ),
    Mutation(
        "balancing: moves that are under way",
        LOOP,
        "                pending += 1\n                continue\n",
        "                pass\n",
        BALANCING,
    ),
    Mutation(
        "balancing: loads of all windows",
        LOOP,
        "            if pane == start_ns:\n",
        "            if True:\n",
        BALANCING,
    ),
    Mutation(
        "splitting: at once",
        FORMS,
        "if start >= row[r, extra + FORM_ROW_SPLIT] else 1",
        "if row[r, extra + FORM_ROW_SPLIT] < FAR else 1",
        BALANCING,
    ),
    Mutation(
        "splitting: left records go to all parts",
        FORMS,
        "parts_of(row, r, extra, start) if port == 1 else 1",
        "parts_of(row, r, extra, start)",
        BALANCING,
    ),
    Mutation("splitting: parts on one worker", FORMS, "(owner + part) %", "owner %", BALANCING),
    Mutation("splitting: parts weigh nothing", LOOP, "                    fixed[n] += share\n", "                    pass\n", BALANCING),
    Mutation("balancing: comparisons are counted twice", JOIN, "+= entry[e, S_COMPARING]", "+= 2 * entry[e, S_COMPARING]", BALANCING),
    Mutation(
        "balancing: what is too large moves",
        "engine/similarity/s3j.py",
        "is not None and largest.load > mean",
        "is not None and False",
        BALANCING,
    ),
    Mutation(
        "balancing: the smallest benefit first",
        "engine/similarity/s3j.py",
        "(benefit, -workset.id) > (best[0], -best[2].id)",
        "(benefit, -workset.id) < (best[0], -best[2].id)",
        BALANCING,
    ),
    Mutation("distance: cosines beyond 1", ANGLES, "    c = max(-1.0, min(x, 1.0))\n", "    c = x\n", TESTS),
    Mutation("distance: no half turn", f"{DISTANCES}/angular.py", "np.sqrt(right_square))) / PI", "np.sqrt(right_square)))", TESTS),
    Mutation("distance: bounds are half as far", f"{DISTANCES}/__init__.py", "cosine_bound(reach *", "cosine_bound(0.5 * reach *", TESTS),
    Mutation(
        "distance: turns count from the other side", f"{DISTANCES}/angular.py", "        if y < 0.0:\n", "        if y > 0.0:\n", TESTS
    ),
    Mutation("trees: subtrees are not summed up", TREES, "        summarise(row, first, path)\n", "", TREE_TESTS),
    Mutation("trees: nodes above keep their count", TREES, "        row[x, first + TREE_COUNT] += 1\n", "", TREE_TESTS),
    Mutation("trees: any priority", TREES, "mix64(x) > priority", "mix64(x) != priority", TREE_TESTS),
    Mutation("trees: bounds are left out", TREES, "            if key >= low:\n", "            if key > low:\n", TREE_TESTS),
    Mutation("trees: nothing is near", TREES, "    if near == 1:\n", "    if False:\n", TREE_TESTS),
    Mutation(
        "trees: newer ones in any order", TREES, "row[y, first + TREE_ORDER] < row[x", "row[y, first + TREE_ORDER] != row[x", TREE_TESTS
    ),
    Mutation("trees: newer subtrees at once", TREES, "        if row[x, first + TREE_NEWEST] <= time:\n", "        if True:\n", TREE_TESTS),
    Mutation("angles: no way round", INDEX, "    if low < -1.0:\n", "    if False:\n", TESTS),
    Mutation("angles: rounding decides", INDEX, "        if entry[e, S_FOUND + FOUND_NEAR] == 1:\n", "        if False:\n", TESTS),
    Mutation("angles: inner records are compared", INDEX, "            compared -= entry[e, S_INNER + met]\n", "            pass\n", TESTS),
    Mutation("angles: outer records match", INDEX, "and (role != OUTER or theirs != OUTER_TREE)", "", TESTS),
    Mutation(
        "angles: restored state is not indexed", INDEX, "        index_entry(world, e, role_at, vector, tree)\n", "        pass\n", TESTS
    ),
    Mutation(
        "angles: newer ones are lost", INDEX, "        emit_newer(world, r, slot, at, tracing, anchor, stamps)\n", "        pass\n", TESTS
    ),
    Mutation(
        "balancing: pairs are free",
        LOOP,
        "entries[:, S_COMPARED], entries[:, S_PAIRED]]",
        "entries[:, S_COMPARED], 0 * records]",
        BALANCING,
    ),
    Mutation("spaces: told again", VIEW, "(opened_ns > since_ns) & ", "", VIEW_TESTS),
    Mutation("spaces: numbers from 0", VIEW, "yield [space, n + 1,", "yield [space, n,", VIEW_TESTS),
    Mutation("spaces: loads of all windows", VIEW, "panes == panes.max(initial=0)", "panes >= panes.min()", VIEW_TESTS),
    Mutation("spaces: dropped at once", VIEW, "(dropped_ns > max(since_ns, 0)) & ", "", TESTS),
    Mutation("stored: a record meets its own stream", STORED, "side if one_stream else 1 - side", "side", VIEW_TESTS),
    Mutation("stored: a record meets itself", STORED, "others[role] -= 1", "others[role] -= 0", VIEW_TESTS),
    Mutation("stored: copies apart", STORED, "found.setdefault((side, event_ns, *shown)", "found.setdefault((side, n, *shown)", VIEW_TESTS),
    Mutation("stored: all are told", STORED, "((len(event_ns) - 1) // COPIES_TOLD).bit_length()", "0", VIEW_TESTS),
    Mutation("stored: another centroid", STORED, "centroids[space][number - 1]", "centroids[space][0]", VIEW_TESTS),
    Mutation(
        "sinks: latency of another instance",
        "engine/core/kernels/event_loop/completions.py",
        "SINK_LATENCIES] + inst[i, I_INDEX], latency_bucket",
        "SINK_LATENCIES], latency_bucket",
        ("tests/engine/telemetry/test_latency_by_instance.py",),
    ),
    Mutation("distance: squares", f"{DISTANCES}/euclidean.py", "np.sqrt(difference_square)", "difference_square", TESTS),
    Mutation("estimates: of all windows", ESTIMATE, "loads[at] = self.loads.get(at, 0.0) +", "loads[at] =", ESTIMATES),
    Mutation("estimates: inner records meet inner ones", ESTIMATE, "new[0] * (outer + outliers)", "new[0] * everything", ESTIMATES),
    Mutation(
        "estimates: against their own mean",
        LOOP,
        "Loads.of(owned, stage.join[1], mean, fixed)",
        "Loads.of(owned, stage.join[1], None, fixed)",
        ESTIMATES,
    ),
    Mutation("exactness: no way round the circle", CHECK, "[turns[1] - 2.0, turns[1], turns[1] + 2.0]", "[turns[1]]", CHECKS),
    Mutation("exactness: a record with itself", CHECK, "(found - _alone(distance, left)) // 2", "found // 2", CHECKS),
    Mutation("exactness: whatever stands between", CHECK, "(kind := experiment.operator(id).kind) not in BETWEEN", "False", CHECKS),
    Mutation("selectivity: a record with itself", SHARE, "np.triu_indices(len(left), 1)", "np.triu_indices(len(left))", SHARES),
    Mutation(
        "selectivity: twice as many pairs",
        SHARE,
        "count = round(selectivity * len(apart))",
        "count = round(2 * selectivity * len(apart))",
        SHARES,
    ),
    Mutation("distance: letters are never replaced", f"{DISTANCES}/edit.py", "else before + 1\n", "else before + 2\n", TESTS),
    Mutation(
        "distance: texts are given up too early",
        f"{DISTANCES}/edit.py",
        "and found <= most:\n            before",
        "and found < most:\n            before",
        TESTS,
    ),
    Mutation("vectors: numbers of another source", "engine/workloads/feed.py", "source_number * VECTORS_MAX + n", "n", TESTS),
    Mutation(
        "vectors: one place further on",
        PARTS,
        "return point_first[word >> VECTOR_BITS] + (word",
        "return point_first[word >> VECTOR_BITS] + 1 + (word",
        TESTS,
    ),
    Mutation(
        "spaces: the first centroid again",
        PARTS,
        "        if number not in found[len(found) // below * below :]:\n",
        "        if True:\n",
        TESTS,
    ),
    Mutation(
        "hand-over: the barrier leaves before the switch",
        MOVES,
        "        if self._operator_of[i] == order.formulation:\n            self._switch(world, i, order)\n",
        "",
        MOVING,
    ),
    Mutation(
        "hand-over: nobody waits",
        MOVES,
        "        hold(world, i)\n        keys = {",
        "        keys = {",
        MOVING,
    ),
    Mutation("hand-over: receivers go on at once", MOVES, "            if i not in receivers:\n", "            if True:\n", MOVING),
    Mutation("hand-over: barriers of others still come", MOVES, "        if self._unaligned:\n            return\n", "", MOVING),
    Mutation(
        "hand-over: sent before all are aligned",
        MOVES,
        "        if order.stops:\n            self._awaited, self._unaligned = set(range(len(self._host_of))), set()\n",
        "",
        MOVING,
    ),
    Mutation(
        "hand-over: one giver is enough",
        MOVES,
        "machine.shipped and all((receiver, giver)",
        "machine.shipped and any((receiver, giver)",
        MOVING,
    ),
    Mutation(
        "hand-over: a piece too few",
        MOVES,
        "if left == 0:\n                machine.came",
        "if left <= 1:\n                machine.came",
        MOVING,
    ),
    Mutation(
        "hand-over: the first move of two",
        MOVES,
        "            ends[move.id] = move.target\n",
        "            ends.setdefault(move.id, move.target)\n",
        MOVING,
    ),
    Mutation("hand-over: loads since the start", LOOP, " - before.get((workset, pane), 0.0)", "", MOVING),
    Mutation("hand-over: one plan amid another", LOOP, "elif not self._coordinator.busy:", "elif True:", MOVING),
    Mutation("hand-over: no restart", MOVES, "after_ns=self.restart_ns or 0", "after_ns=0", MOVING),
    Mutation(
        "hand-over: what waits for a link is lost",
        "engine/core/control/actors.py",
        "            if up_ns < L.FAR:\n",
        "            if False:\n",
        MOVING,
    ),
    Mutation(
        "self-join: meets the other side", JOIN, "return port if par[at + SIM_ONE_STREAM] == 1 else 1 - port", "return 1 - port", TESTS
    ),
    Mutation(
        "self-join: fields of one side", "engine/operators/pairs.py", "stored = [sorted({*stored[0], *stored[1]})] * 2", "pass", TESTS
    ),
    Mutation("trigger: latencies since the start", LOOP, "new = now if before is None else now - before", "new = now", BALANCING),
    Mutation(
        "orders: unknown worksets end them", LOOP, "            unknown.append([move.space, move.number])\n", "            break\n", MOVING
    ),
    Mutation("orders: amid a hand-over", LOOP, "if self._coordinator is not None and self._coordinator.busy:", "if False:", MOVING),
    Mutation(
        "switched: at the moment itself",
        "engine/workloads/switched.py",
        "event_ns < self._at_ns",
        "event_ns <= self._at_ns",
        ("tests/workloads/streams/test_switched.py",),
    ),
    Mutation(
        "switched: numbers begin anew",
        "engine/workloads/switched.py",
        "records.words(numbers[rows], event_ns[rows])",
        "records.words(np.arange(rows.sum()), event_ns[rows])",
        ("tests/workloads/streams/test_switched.py",),
    ),
)
