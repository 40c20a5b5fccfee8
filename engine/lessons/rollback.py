"""Rollback propagation on the checkpoint graph, step by step (Siachamis 2024, Algorithm 2, Figures 3.4 and 3.5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from engine.checkpointing.checkpoint_graph import Edge, Node, checkpoint_graph, rollback_propagation
from engine.checkpointing.recovery_line import in_flight, recovery_line

from .history import History
from .steps import LessonStep, checkpoint_id, listed


def steps_of_rollback(history: History) -> list[LessonStep]:
    """Return the steps; the last one has the recovery line. The rounds are those of the engine's `rollback_propagation`; the line equals
    that of the search that runs use."""
    record = history.record()
    edges = checkpoint_graph(record)
    rounds = rollback_propagation(record.newest, edges)
    found = recovery_line(record)
    if rounds[-1].root != found.checkpoints:
        raise AssertionError(f"the graph leads to {rounds[-1].root}, the search by counters to {found.checkpoints}")
    across = tuple((checkpoint_id(*tail), checkpoint_id(*head)) for tail, head, channel in edges if channel is not None)
    steps = [
        LessonStep(
            title="What happened",
            text="Each instance took checkpoints independently, until a host was lost. Now they must roll back to consistent "
            "checkpoints: no message may be processed at the line without being sent at it.",
        ),
        LessonStep(
            title="The checkpoint graph",
            text="Each message gives an edge from the last checkpoint before its send to the first one after its processing. Each "
            "checkpoint also has an edge to its instance's next one. If a path connects two checkpoints, they cannot be on one line.",
            edges=across,
        ),
    ]
    discarded: list[str] = []
    for n, (root, marked) in enumerate(rounds):
        names, line = history.line_names(root), history.line_ids(root)
        shown = tuple(discarded)
        if n == 0:
            text = f"The search starts with the newest checkpoint of each instance: {listed(names)}. This set is called the root."
            steps.append(LessonStep(title="The newest checkpoints", text=text, line=line))
        if not marked:
            break
        reasons, orphans, ways = _why_marked(history, edges, root, marked)
        ids = tuple(checkpoint_id(i, root[i]) for i in marked)
        steps.append(
            LessonStep(
                title=f"Mark {listed([names[i] for i in marked])}",
                text=" ".join(reasons),
                verdict="bad",
                line=line,
                marked=ids,
                discarded=shown,
                orphans=tuple(orphans),
                edges=tuple(ways),
            )
        )
        after = rounds[n + 1].root
        gone = [checkpoint_id(i, index) for i in marked for index in range(root[i], after[i], -1)]
        discarded += gone
        moves = [f"{names[i]} by {history.taken[i][after[i]].name}" for i in marked]
        skipped = [i for i in marked if root[i] - after[i] > 1]
        more = f" The checkpoints in between are reachable, too: {_counted(len(gone))} discarded." if skipped else ""
        older = f"{_its(marked)} next older checkpoint that is not marked"
        text = f"Replace {listed(moves)}, {older}.{more} Discarded so far: {len(discarded)}."
        steps.append(
            LessonStep(
                title=f"Back to {listed([history.taken[i][after[i]].name for i in marked])}",
                text=text,
                line=history.line_ids(after),
                discarded=tuple(discarded),
                focus=tuple(checkpoint_id(i, after[i]) for i in marked),
            )
        )
    return [*steps, _result(history, rounds[-1].root, discarded, len(found.steps))]


def _result(history: History, line: Sequence[int], discarded: list[str], search_steps: int) -> LessonStep:
    under_way = history.names(in_flight(history.record(), line))
    flight = (
        f" {listed(under_way)} {'crosses' if len(under_way) == 1 else 'cross'} the line, sent but not processed: in flight, to be replayed "
        "from the log."
        if under_way
        else " Nothing is in flight."
    )
    count = f"{_counted(len(discarded))} discarded" if discarded else "none is discarded"
    steps = "no step" if not search_steps else f"{search_steps} step{'s' * (search_steps > 1)}"
    return LessonStep(
        title="The recovery line",
        text=f"No path leads from one of {listed(history.line_names(line))} to another: this is the recovery line, and {count}.{flight} "
        f"The search that runs use compares counters only; it takes {steps} to the same line.",
        verdict="good",
        line=history.line_ids(line),
        discarded=tuple(discarded),
        in_flight=tuple(under_way),
    )


def _why_marked(
    history: History, edges: Sequence[Edge], root: Sequence[int], marked: Iterable[int]
) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Return sentences, orphans, and paths as edges."""
    heads: dict[Node, list[Edge]] = {}
    for edge in edges:
        heads.setdefault(edge.tail, []).append(edge)
    sentences, orphans, ways = [], [], []
    for i in marked:
        target = Node(i, root[i])
        path = _path([Node(j, index) for j, index in enumerate(root)], target, heads)
        ways += [(checkpoint_id(*edge.tail), checkpoint_id(*edge.head)) for edge in path]
        name = history.taken[i][root[i]].name
        own = [
            message.name
            for message in history.messages.values()
            if history.channels[message.channel].receiver == i
            and 0 <= message.processed_in < root[i]
            and message.sent_in >= root[history.channels[message.channel].sender]
        ]
        orphans += own
        if own:
            first = history.messages[own[0]]
            sender = history.channels[first.channel].sender
            more = f" (as {'is' if len(own) == 2 else 'are'} {listed(own[1:])})" if len(own) > 1 else ""
            sentences.append(
                f"{name} is reachable from {history.taken[sender][root[sender]].name}: {own[0]} was sent after the latter and processed "
                f"before {name}, so it is an orphan{more}. {name} is marked."
            )
        else:
            over = [history.taken[edge.head.instance][edge.head.checkpoint].name for edge in path]
            begin = history.taken[path[0].tail.instance][path[0].tail.checkpoint].name
            way = " → ".join([begin, *over])
            sentences.append(f"{name} is reachable via {way}, so it falls, too. {name} is marked.")
    return sentences, orphans, ways


def _path(starts: list[Node], target: Node, heads: dict[Node, list[Edge]]) -> list[Edge]:
    """Return the shortest path of at least one edge."""
    came: dict[Node, Edge] = {}
    waiting = deque(starts)
    while target not in came:
        for edge in heads.get(waiting.popleft(), ()):
            if edge.head not in came:
                came[edge.head] = edge
                waiting.append(edge.head)
    path = [came[target]]
    while path[0].tail not in starts:
        path.insert(0, came[path[0].tail])
    return path


def _counted(count: int) -> str:
    return f"{count} checkpoint is" if count == 1 else f"{count} checkpoints are"


def _its(instances: Sequence[int]) -> str:
    return "its instance's" if len(instances) == 1 else "each its instance's"
