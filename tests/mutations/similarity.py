"""Similarity joins, broken one line at a time."""

from __future__ import annotations

from .core import Mutation

TESTS = ("tests/engine/operators/test_similarity.py",)
SPACES, FORMS, JOIN = (f"engine/operators/{name}.py" for name in ("space_partitioner", "workset_formulation", "similarity_join"))
BALANCING = ("tests/engine/similarity/test_balancing.py",)
LOOP = "engine/similarity/loop.py"
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
        "if world.row_f[r, extra + FORM_ROW_DISTANCE] <= reach",
        "if world.row_f[r, extra + FORM_ROW_DISTANCE] <= reach / 2.0",
        TESTS,
    ),
    Mutation("worksets: copies to younger ones", FORMS, "                last = home\n", "                pass\n", TESTS),
    Mutation("worksets: outliers are inner", FORMS, "                    role = OUTLIER\n", "                    pass\n", TESTS),
    Mutation("worksets: one for all", FORMS, "if nearest <= threshold:", "if True:", TESTS),
    Mutation("worksets: no copies from before", FORMS, "    if opens:\n        offer_outer(", "    if False:\n        offer_outer(", TESTS),
    Mutation("worksets: copies from before go to all", FORMS, "<= reach and par[at + FORM_LEFT_LISTENED + side] == 1", "<= FAR", TESTS),
    Mutation("worksets: other spaces' copies", FORMS, "if entry[e, S_KEY] == key:", "if True:", TESTS),
    Mutation("worksets: distances are free", FORMS, "    box[BOX_READ] = known\n", "    box[BOX_READ] = 0\n", TESTS),
    Mutation(
        "worksets: copies in the first window", FORMS, "    start += (panes - 1) * par[at + JOIN_SLIDE]  # of its last window\n", "", TESTS
    ),
    Mutation("worksets: the last of two as near", FORMS, "if w == 0 or far < nearest", "if w == 0 or far <= nearest", TESTS),
    Mutation("join: inner records are compared", JOIN, "if role == INNER and theirs == INNER:", "if False:", TESTS),
    Mutation("join: outer records match", JOIN, "elif role != OUTER or theirs != OUTER:", "else:", TESTS),
    Mutation("join: below the threshold", JOIN, "if far <= threshold and", "if far < threshold / 1.5 and", TESTS),
    Mutation("join: comparisons are free", JOIN, "    world.box[BOX_READ] += compared\n", "", TESTS),
    Mutation("join: partitions do not matter", JOIN, "and row[r, extra + SIM_ROW_SPACE] == space", "", TESTS),
    Mutation("join: all roles are given", JOIN, "elif par[at + SIM_ROLES] == ROLES_OF_INNER and", "elif False and", TESTS),
    Mutation(
        "pairs: newer ones are counted together", JOIN, "is_newer = row[r, R_NEWEST] > msg[slot, M_NEWEST]", "is_newer = False", TESTS
    ),
    Mutation("pairs: counted ones are free", JOIN, "    box[BOX_COUNTED] = matches - outputs\n", "", TESTS),
    Mutation("balancing: at once", FORMS, "if start >= row[r, extra + FORM_ROW_FROM]", "if row[r, extra + FORM_ROW_FROM] < FAR", BALANCING),
    Mutation(
        "balancing: copies go to the first owner",
        FORMS,
        "OUTER, worker_of(row, r, extra, start))",
        "OUTER, row[r, extra + FORM_ROW_WORKER])",
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
        "entries = entries[w.entry[entries, L.S_PANE] == from_ns - stage.size_ns]",
        "pass",
        BALANCING,
    ),
    Mutation("balancing: comparisons are counted twice", JOIN, "        entry[e, S_COMPARING] = 0\n", "", BALANCING),
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
    Mutation("distance: no half turn", f"{DISTANCES}/angular.py", " / PI", "", TESTS),
    Mutation("distance: squares", f"{DISTANCES}/euclidean.py", "np.sqrt(difference_square)", "difference_square", TESTS),
)
