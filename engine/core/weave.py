"""Completes the loop with the kernels of the operators and the protocol that a query uses.

Lines `# WEAVE name` of `engine/core/kernels/event_loop` become calls of the functions that operator kinds and protocols provide for that
point. The arguments of a call are the loop's local variables of the same names. The loop is woven only for the kinds that a query uses, so
other kinds cost nothing. The code of a kind (`O_CODE`) is its index among the kinds woven in and has no meaning outside this loop. Lines
from `# WEAVE if feature` to `# WEAVE end` stay only in the loops of runs that use the feature.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from engine.core import layout
from engine.core.compiler import CannotCompile, Compiled, reachable
from engine.core.fragments import Line, assembled
from engine.core.kernels import event_loop
from engine.core.kernels.messages import keep_spare

WIDTHS = {
    "inst": layout.I_COLUMNS,
    "proc": layout.P_COLUMNS,
    "host": layout.H_COLUMNS,
    "op": layout.O_COLUMNS,
    "edge": layout.E_COLUMNS,
    "chan": layout.C_COLUMNS,
    "carried": layout.SEQ_COLUMNS,
    "gate": layout.Q_COLUMNS,
    "align": layout.ALIGN_COLUMNS,
    "link": layout.LINK_COLUMNS,
    "memory": layout.Z_COLUMNS,
    "tally": layout.Y_COLUMNS,
    "curve": 2,
    "progress": layout.PROGRESS_COLUMNS,
    "epochs": layout.EPOCH_COLUMNS,
    "pane": layout.W_COLUMNS,
    "notes": layout.N_COLUMNS,
    "trace": layout.TRACE_COLUMNS,
    "halves": layout.HALVES,
    "behind": layout.B_COLUMNS,
    "agenda": 2,
    "tags": 2,
    "turns": 3,
}
"""Tables whose width is the same in every run."""

POINTS = {
    "on_record": "n = {call}",
    "on_close": "n = {call}",
    "make_output": "made = {call}",
    "next_tick": "following = {call}",
    "key_hash": "key_hash = {call}",
}
"""Points for which operators provide kernels, and the use of the result."""

WHOSE = {"key_hash": "edge[e, E_TARGET]"}
"""The operator whose kernel is called at a point, if not that of instance `i`."""

CALLED_POINTS = ("on_close", "make_output", "next_tick")
"""Rare points: their kernels are called instead of inlined, which halves compilation time at no measurable cost."""

IN_PLACE_KINDS_MAX = 8
"""With more kinds than this, all kernels are called instead of inlined, so that compilation time grows only linearly."""

STATE_TABLES = frozenset({"table", "entry", "entry_f", "row", "row_f", "pane", "panes_of", "world"})
"""Variables of the loop through which a kernel accesses the state that instances keep between services."""

STATE_COLUMNS = frozenset({"I_ENTRIES", "I_STATE_BYTES"})
"""Columns of instances that count this state."""

OWN_PARTITIONINGS = {
    "forward": layout.FORWARD,
    "hash": layout.HASH,
    "rebalance": layout.REBALANCE,
    "broadcast": layout.BROADCAST,
    "rescale": layout.RESCALE,
}
"""Codes of the partitionings that the loop implements itself."""

CHOICE = "choose_receiver"
"""Point at which partitionings of other packages choose the receiver of a record. The built-in ones are part of the loop."""

HOOKS = {"on_send": ("more_bytes", "size += more_bytes"), "on_receive": ("more_ps", "extra_ps += more_ps")}
"""Points for which a per-message protocol provides kernels. on_send returns additional bytes, on_receive additional picoseconds.

Both are called exactly once per record: on_send when the numbered record leaves, on each channel; on_receive when its service starts, after
the operator's work. Without a protocol the points leave no trace in the compiled loop. on_receive may also send control messages
(`engine.core.kernels.messages.new_control_message`), at most `messages_max` of the protocol per service.
"""

FEATURES = (
    "actors",
    "adapting",
    "background",
    "changes",
    "coordinated",
    "counting",
    "epochs",
    "forcing",
    "heaps",
    "holding",
    "latencies",
    "logging",
    "losses",
    "memory",
    "moves",
    "pending",
    "regions",
    "serialising",
    "stolen",
    "watching",
)
"""Optional features of the loop.

actors: control messages (`engine.core.control.actors`). adapting: the logging of inner edges can be switched on and off (Q_LOG).
background: work that belongs to no instance takes processors (`engine.core.control.background`). changes: changes of keyed state are noted
for local stores (`engine.core.control.changes`). coordinated: generators wait for their sources. counting: receivers count the records
served of each channel. epochs: sources keep statistics of their delays (`engine.core.kernels.epochs`). forcing: records carry their
senders' dependency vectors and may force checkpoints (`engine.core.kernels.dependency_vectors`). heaps: hosts with a processor per
instance, or with so many instances that they take turns from heaps (H_DISPATCH). holding: senders may hold back what they make (C_HELD).
latencies: latencies in addition to the measured one. logging: sent records are kept for replay (`engine.core.kernels.channel_log`). losses:
hosts can be lost (`engine.core.control.host_failure`). memory: the memory of hosts is watched (`engine.lowering.memory`). moves: operators
may move to other hosts (O_BEGIN). pending: operators may make the outputs of a firing one by one (PENDING). regions: barriers stay on the
edges within a region (E_INNER). serialising: records that cross to another host are serialised at a price (E_SENT_PS). stolen: services
take longer than their work (O_ATTAINABLE). watching: hosts hand back when a watched watermark has risen
(`engine.core.control.ranks.watch`).
"""

_ALMOST_ALL = (
    "actors",
    "background",
    "changes",
    "coordinated",
    "epochs",
    "heaps",
    "latencies",
    "losses",
    "memory",
    "moves",
    "pending",
    "serialising",
    "stolen",
    "watching",
)
SHARED = (
    _ALMOST_ALL,
    (*_ALMOST_ALL, "regions"),
    (*_ALMOST_ALL, "counting"),
    (*_ALMOST_ALL, "counting", "adapting", "forcing", "holding", "logging"),
    FEATURES,
)
"""Features of the shared loops (`shares_loops`). A run takes the first loop that has all features that it needs.

Its tables switch off the other features, except for counters, logs and regions: a loop with these always counts, logs, and keeps barriers
within regions.
"""

NO_KERNEL = -1
"""Code of kinds that the loop implements itself."""


@dataclass(frozen=True)
class Loop:
    """A woven loop. advance(world, stop): see `engine.core.kernels.event_loop`. kinds: operator kinds woven in, by code. features: features
    that it supports. partitionings: those of other packages, by code."""

    advance: Callable[[Any, int], int]
    kinds: tuple[str, ...]
    features: tuple[str, ...] = ()
    partitionings: tuple[str, ...] = ()

    def code(self, kind: str) -> int:
        return self.kinds.index(kind) if kind in self.kinds else NO_KERNEL

    def partitioning(self, kind: str) -> int:
        """The code of a partitioning (`E_KIND`)."""
        own = OWN_PARTITIONINGS.get(kind)
        return layout.OTHER_PARTITIONINGS + self.partitionings.index(kind) if own is None else own


def shares_loops() -> bool:
    """Whether MILLRACE_LOOPS=shared: all runs share a few loops with all operator kinds and more features than they need.

    Services, outputs and digests are the same. Runs take 10 to 20 % longer, but another query needs no compilation. This suits many short
    runs, such as those of tests.
    """
    return os.environ.get("MILLRACE_LOOPS", "own") == "shared"


def weave(
    operators: Mapping[str, Any],
    protocol: Any = None,
    template: ModuleType = event_loop,
    features: Collection[str] = (),
    choices: Mapping[str, Callable[..., Any]] | None = None,
) -> Loop:
    """The loop for these operator kinds, this per-message protocol and these features. Equal requests return the same loop, compiled once.

    choices: the kernels `choose_receiver` of partitionings, by kind.
    """
    _check_features(features)
    if shares_loops():
        features = next((shared for shared in SHARED if set(features) <= set(shared)), features)
    kernels = sorted((kind, operator) for kind, operator in operators.items() if has_kernel(operator))
    chosen = tuple(feature for feature in FEATURES if feature in features)
    return _woven(tuple(kernels), protocol, template, chosen, tuple(sorted((choices or {}).items())))


def has_kernel(operator: Any) -> bool:
    return any(hasattr(operator, point) for point in POINTS)


def has_state(operator: Any) -> bool:
    """Whether instances of an operator kind keep state between services: its kernels use tables of state or count their state. The kind's
    own declarations, such as its group, do not matter."""
    return _has_state(*(getattr(operator, point) for point in POINTS if hasattr(operator, point)))


@functools.cache
def _has_state(*kernels: Callable[..., Any]) -> bool:
    asked = {argument for kernel in kernels for argument in inspect.signature(kernel).parameters}
    counted: set[str] = set()
    for kernel in kernels:
        with suppress(CannotCompile):  # reported when it is compiled
            counted.update(*(used.__code__.co_names for used in reachable(kernel)))
    return not asked.isdisjoint(STATE_TABLES) or not counted.isdisjoint(STATE_COLUMNS)


@functools.cache
def _woven(
    operators: tuple[tuple[str, Any], ...],
    protocol: Any,
    template: ModuleType,
    features: tuple[str, ...],
    choices: tuple[tuple[str, Callable[..., Any]], ...],
) -> Loop:
    kinds = tuple(kind for kind, _ in operators)
    text, kernels = woven_text(dict(operators), protocol, template, features, dict(choices))
    partitionings = tuple(kind for kind, _ in choices)
    parts = [*kinds, *partitionings, *([protocol.__name__] if protocol else []), *features, template.__name__]
    name = f"<loop of {', '.join(parts)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # for the compiler, debuggers and tracebacks
    space = {**assembled(template).space, **kernels}
    exec(compile(text, name, "exec"), space)  # our own template and the names of registered kernels
    points = POINTS if len(kinds) > IN_PLACE_KINDS_MAX else CALLED_POINTS
    called = {getattr(operator, point) for point in points for _, operator in operators if hasattr(operator, point)}
    return Loop(Compiled(space["advance"], called=called, widths=WIDTHS), kinds, features, partitionings)


def woven_text(
    operators: Mapping[str, Any],
    protocol: Any = None,
    template: ModuleType = event_loop,
    features: Collection[str] = (),
    choices: Mapping[str, Callable[..., Any]] | None = None,
) -> tuple[str, dict[str, Callable[..., Any]]]:
    """The completed loop, and its kernels by the names under which it calls them.

    Raises ValueError for an unknown feature, for a function whose name looks like a point or hook but is none, for a kernel argument that
    is not a variable of the loop, for marks of the template that are unknown, nested or not ended, and for invalid fragments
    (`engine.core.fragments`).
    """
    _check_features(features)
    for kind, operator in operators.items():
        _check_names(f"operator kind '{kind}'", operator, POINTS)
    if protocol is not None:
        _check_names(f"protocol {protocol.__name__}", protocol, HOOKS)
    lines: list[str] = []
    kernels: dict[str, Callable[..., Any]] = {}

    whole = assembled(template)
    for fragment in whole.fragments:
        for _ in _chosen(fragment, ()):  # the marks of each fragment must be valid by themselves
            pass
    known = whole.variables

    def call(function: Callable[..., Any], name: str) -> str:
        arguments = list(inspect.signature(function).parameters)
        unknown = [argument for argument in arguments if argument not in known]
        if unknown:
            asks = f"kernel {function.__module__}.{function.__name__} asks for {', '.join(unknown)}"
            raise ValueError(f"{asks}; its arguments must be variables of the loop: {', '.join(sorted(known))}")
        kernels[name] = function
        return f"{name}({', '.join(arguments)})"

    for line in _chosen(whole.lines, features):
        mark = MARK.fullmatch(line)
        if mark is None:
            lines.append(line)
            continue
        indent, name = mark["indent"], mark["point"]
        if name == SPARE:
            wanted = getattr(protocol, "messages_max", 0)
            if wanted:
                kernels["keep_spare"] = keep_spare
                lines += [
                    f"{indent}if g[G_FREE] < 2 + {wanted}:",
                    f"{indent}    g[G_NEED] = 2 + {wanted}",
                    f"{indent}    reason = NEED_MESSAGES",
                    f"{indent}    break",
                    f"{indent}keep_spare(free, g, box, {wanted})",
                ]
            continue
        if name == CHOICE:
            for n, choose in enumerate((choices or {}).values(), layout.OTHER_PARTITIONINGS):
                lines.append(f"{indent}if partitioning == {n} and is_record:")
                lines.append(f"{indent}    r = {call(choose, f'{CHOICE}_{n}')} % parallel")
            continue
        if name in HOOKS:
            hook = getattr(protocol, name, None)
            if hook is not None:
                result, use = HOOKS[name]
                lines += [f"{indent}{result} = {call(hook, f'protocol_{name}')}", indent + use]
            continue
        users: dict[Callable[..., Any], list[int]] = {}
        for code, operator in enumerate(operators.values()):
            if hasattr(operator, name):
                users.setdefault(getattr(operator, name), []).append(code)
        for n, (function, codes) in enumerate(users.items()):
            whose = f"op[{WHOSE.get(name, 'inst[i, I_OP]')}, O_CODE]"
            lines.append(f"{indent}{'elif' if n else 'if'} {' or '.join(f'{whose} == {code}' for code in codes)}:")
            lines.append(f"{indent}    {POINTS[name].format(call=call(function, f'{name}_{codes[0]}'))}")
    return "\n".join(lines) + "\n", kernels


MARK = re.compile(r"(?P<indent> *)# WEAVE (?:if (?P<feature>\w+)|(?P<end>end)|(?P<point>\w+))")
SPARE = "spare"
"""Point at which the loop reserves messages for a protocol that sends at the start of a service."""


def _chosen(lines: Iterable[Line], features: Collection[str]) -> Iterator[str]:
    """The lines without unused features and without the marks of features. Raises ValueError for a wrong mark."""
    feature, began = "", ""
    for line in lines:
        text, place = line.text, line.place
        mark = MARK.fullmatch(text)
        if mark is None:
            if text.lstrip().startswith("#") and "WEAVE" in text:
                wanted = "'# WEAVE if FEATURE', '# WEAVE end' or '# WEAVE POINT'"
                raise ValueError(f"{place}: '{text.strip()}' is not a valid mark; write {wanted}")
            if not feature or feature in features:
                yield text
        elif mark["feature"]:
            if feature:
                raise ValueError(f"{place}: '{text.strip()}' is inside '# WEAVE if {feature}' of {began}; end that first")
            _check_features([mark["feature"]], f"{place}: ")
            feature, began = mark["feature"], place
        elif mark["end"]:
            if not feature:
                raise ValueError(f"{place}: '# WEAVE end' ends nothing; begin with '# WEAVE if FEATURE'")
            feature = ""
        elif mark["point"] not in (*POINTS, *HOOKS, CHOICE, SPARE):
            known = ", ".join((*POINTS, *HOOKS, CHOICE, SPARE))
            raise ValueError(f"{place}: '{mark['point']}' is not a point of the loop; it must be one of {known}")
        elif not feature or feature in features:
            yield text
    if feature:
        raise ValueError(f"{began}: '# WEAVE if {feature}' is not ended; write '# WEAVE end' after its lines")


def _check_features(features: Collection[str], where: str = "") -> None:
    """Raise ValueError for a feature that the loop does not have; it would otherwise be dropped silently."""
    for feature in features:
        if feature not in FEATURES:
            raise ValueError(f"{where}the loop has no feature '{feature}'; it must be one of {', '.join(FEATURES)}")


def _check_names(whose: str, holder: Any, points: Collection[str]) -> None:
    """Raise ValueError for a function `on_...` that the loop never calls."""
    for name in dir(holder):
        if name.startswith("on_") and name not in points and callable(getattr(holder, name)):
            raise ValueError(f"{whose} has a function {name}, which the loop never calls; it must be one of {', '.join(points)}")
