"""The active instances of a layout: parallelism that changes during a run (docs/autoscaling.md, section 2).

The world is laid out for the maximum parallelism of each operator, or, where operators move, with an instance on each host. Those from
O_BEGIN on are *active*; the others are idle, and nothing is sent to them. Arrangements change between instants.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.ranks import look_again, set_held
from engine.core.kernels import channel_log
from engine.core.kernels.dispatch import empty_turns, turn_of
from engine.core.kernels.messages import free_message
from engine.core.tables import Arrays, Words
from engine.core.world import World


def active(w: Arrays) -> NDArray[np.bool_]:
    """(instances,)"""
    index = w.inst[:, L.I_INDEX] - w.op[w.inst[:, L.I_OP], L.O_BEGIN]
    found: NDArray[np.bool_] = (index >= 0) & (index < w.op[w.inst[:, L.I_OP], L.O_PARALLEL])
    return found


def set_parallelism(
    world: World,
    parallelism: Sequence[int],
    changed: Collection[int] | None = None,
    still: Collection[int] | None = None,
    begins: Sequence[int] = (),
) -> None:
    """Set the number of active instances of each operator and renew their channels.

    parallelism: by operator, 1 .. O_STRIDE. changed: numbers of the operators concerned; None: all. Nothing may be in hand, queued or in
    flight from, to or within them. still: if given, this applies only to their channels from and to these operators. Messages that they
    have sent to other operators may be in flight; the caller notifies these (`retire_channels`, `rejoin_channels`). begins: index of the
    first active instance, by operator; default: they stay.

    Key groups are assigned to receivers as at the start of a run, and the capacity of the channels is shared out again. Counters and the
    numbers of messages continue, and an operator that moves takes its number of services along, by which its noise is drawn. Newly active
    instances are idle and have no ticks (`release`). State does not move, and logs stay with their owners.
    """
    w = world.arrays
    wanted = np.asarray(parallelism, np.int64)
    first = np.asarray(begins, np.int64) if len(begins) else w.op[:, L.O_BEGIN]
    assert ((wanted >= 1) & (first >= 0) & (first + wanted <= w.op[:, L.O_STRIDE])).all(), f"{parallelism} does not fit the layout"
    before, old = active(w), w.op[:, L.O_BEGIN].copy()
    w.op[:, L.O_PARALLEL], w.op[:, L.O_BEGIN] = wanted, first
    concerned = np.ones(len(w.op), bool) if changed is None else np.isin(np.arange(len(w.op)), list(changed))
    assert changed is None or (before == active(w))[~concerned[w.inst[:, L.I_OP]]].all(), "an operator that changes is not in `changed`"
    stands = np.ones(len(w.op), bool) if still is None else np.isin(np.arange(len(w.op)), list(still))
    source, target = w.edge[:, L.E_SOURCE], w.edge[:, L.E_TARGET]
    edges = np.flatnonzero((concerned[source] | concerned[target]) & stands[source] & stands[target])
    _route(w, edges)
    _bound(world, edges)
    channels = np.flatnonzero(np.isin(w.chan[:, L.C_EDGE], edges))
    w.chan[channels, L.C_TURN] = w.chan[channels, L.C_WAITING] = 0
    _give_credits(w, edges)
    take_marks(w, channels)
    _count_inputs(w)
    _set_status(w, before)
    moved = np.flatnonzero(first != old)
    if len(moved):
        start = w.op[moved, L.O_FIRST]
        w.inst[start + first[moved], L.I_SERVICES] = w.inst[start + old[moved], L.I_SERVICES]
        _pin_again(world)


def pinned(instances: Sequence[int], is_active: NDArray[np.bool_], cores: int) -> list[list[int]]:
    """Share instances out among cores, each to one of them: the active ones as if there were no others."""
    order = sorted(instances, key=lambda i: not is_active[i])
    return [sorted(order[core::cores]) for core in range(cores)]


def _pin_again(world: World) -> None:
    """On hosts whose cores have instances of their own, share these out as at the start of a run. Nothing may be served there."""
    w = world.arrays
    is_active = active(w)
    for h, host in enumerate(w.host):
        cores = np.arange(host[L.H_PROCESSOR], host[L.H_PROCESSOR_END])
        shared = len(set(w.proc[cores, L.P_LEADER].tolist())) < len(cores)
        if host[L.H_DISPATCH] == L.DISPATCH_DEDICATED or shared or len(cores) < 2:
            continue
        assert (w.proc[cores, L.P_INSTANCE] < 0).all(), "a host whose instances are pinned again serves something"
        if host[L.H_DISPATCH] == L.DISPATCH_TURN_HEAP:
            empty_turns(world.arrays, h)  # type: ignore[no-untyped-call]
        here = w.host_members[host[L.H_MEMBER] : host[L.H_MEMBER_END]].tolist()
        for p, group in zip(cores.tolist(), pinned(here, is_active, len(cores)), strict=True):
            at = w.proc[p, L.P_FIRST]
            w.members[at : at + len(group)] = group
            w.inst[group, L.I_PROCESSOR] = p


def take_marks(w: Arrays, channels: Words) -> None:
    """Set the watermarks of these channels, on which everything sent has been served, to those of their senders. An inactive sender does
    not hold its receivers back."""
    senders = w.chan[channels, L.C_SENDER]
    w.chan[channels, L.C_WATERMARK] = np.where(active(w)[senders], w.inst[senders, L.I_WATERMARK], L.FAR)


def set_barrier_scope(world: World, among: Collection[int], number: int, now_ns: int) -> None:
    """Restrict barriers to the edges between these operators from now on. No barrier may be in flight.

    number: number of the next barrier. An instance that has become inactive sends it at once, behind its other messages, if some of these
    are not served yet.
    """
    w = world.arrays
    w.edge[:, L.E_INNER] = np.isin(w.edge[:, L.E_SOURCE], list(among)) & np.isin(w.edge[:, L.E_TARGET], list(among))
    _count_inputs(w)
    channels = np.unique(w.msg[_under_way(w), L.M_CHANNEL])
    left = ~active(w)[w.chan[channels, L.C_SENDER]] & (w.edge[w.chan[channels, L.C_EDGE], L.E_INNER] == 1)
    for c in channels[left].tolist():
        assert active(w)[w.chan[c, L.C_RECEIVER]], "a message is in flight to an inactive instance"
        w.align[w.chan[c, L.C_RECEIVER], L.ALIGN_INPUTS] += 1
        _make_room(world, c)
        w = world.arrays
        channel_log.send_barrier(w, c, number, now_ns)


def retire_channels(world: World, channels: Words, now_ns: int) -> None:
    """End these channels of senders that have become inactive: send a last watermark behind their messages."""
    w = world.arrays
    for c in channels[active(w)[w.chan[channels, L.C_RECEIVER]]].tolist():
        sender = w.inst[w.chan[c, L.C_SENDER]]
        if w.host[sender[L.I_HOST], L.H_BACK] > 0:
            continue  # it is down, and sends nothing
        sender[L.I_WATERMARK] = L.FAR
        _make_room(world, c)
        w = world.arrays
        channel_log.send_mark(w, c, now_ns)


def _make_room(world: World, c: int) -> None:
    """Ensure that a message can be sent on channel `c`."""
    if world.arrays.g[L.G_FREE] == 0:
        world.arrays.g[L.G_NEED] = 1
        world.grow(L.NEED_MESSAGES)
    while world.room(*world.arrays.chan[c, [L.C_SENDER, L.C_RECEIVER]].tolist()) == 0:
        world.grow(L.NEED_RING)


def _under_way(w: Arrays) -> Words:
    """The messages sent on channels and not served yet."""
    found = np.isin(w.msg[:, L.M_KIND], (L.RECORD, L.WATERMARK, L.BARRIER, L.MARKER)) & (w.msg[:, L.M_CHANNEL] >= 0)
    found[w.free[: w.g[L.G_FREE]]] = False
    for slot in w.inst[w.inst[:, L.I_OUT] >= 0, L.I_OUT].tolist():  # not sent yet: its channel is undecided
        while slot >= 0:
            found[slot] = False
            slot = w.msg.item(slot, L.M_NEXT)
    numbers: Words = np.flatnonzero(found)
    return numbers


def rejoin_channels(w: Arrays, channels: Words) -> None:
    """Use these channels of senders that are active again. From now on they hold receivers back to their watermark.

    The last watermark of `retire_channels` may still be in flight. It becomes the sender's watermark.
    """
    marks = w.inst[w.chan[channels, L.C_SENDER], L.I_WATERMARK]
    w.chan[channels, L.C_WATERMARK] = np.minimum(w.chan[channels, L.C_WATERMARK], marks)
    under_way = _under_way(w)
    last = under_way[(w.msg[under_way, L.M_KIND] == L.WATERMARK) & (w.msg[under_way, L.M_EVENT] == L.FAR)]
    mark_of = dict(zip(channels.tolist(), marks.tolist(), strict=True))
    for slot in last.tolist():
        w.msg[slot, L.M_EVENT] = mark_of.get(w.msg.item(slot, L.M_CHANNEL), L.FAR)


def owners(partitions: int, active: int, begin: int = 0) -> Words:
    """Index of the instance that owns each partition of a source. Shape (partitions,). begin: index of the first active instance."""
    found: Words = begin + np.arange(partitions) * active // partitions
    return found


def _route(w: Arrays, edges: Words) -> None:
    """Assign a range of key groups to each active receiver."""
    for edge in w.edge[edges]:
        if edge[L.E_KIND] == L.HASH:
            groups = int(edge[L.E_GROUPS])
            first = int(edge[L.E_ROUTE])
            w.route[first : first + groups] = np.arange(groups) * w.op[edge[L.E_TARGET], L.O_PARALLEL] // groups


def _bound(world: World, edges: Words) -> None:
    """Set the capacity of these edges' channels, which depends on the number of active senders and on the hosts of active receivers."""
    w = world.arrays
    slowest_milli = np.full(len(w.op), L.FAR, np.int64)
    used = w.inst[active(w)]
    np.minimum.at(slowest_milli, used[:, L.I_OP], w.host[used[:, L.I_HOST], L.H_OWN_SPEED])
    inputs = np.zeros(len(w.op), np.int64)
    senders = np.where(w.edge[:, L.E_KIND] == L.FORWARD, 1, w.op[w.edge[:, L.E_SOURCE], L.O_PARALLEL])
    np.add.at(inputs, w.edge[:, L.E_TARGET], senders)
    for e in edges[w.edge[edges, L.E_BOUND] > 0].tolist():
        target = w.edge[e, L.E_TARGET]
        w.edge[e, L.E_BOUND] = world.bounds[e](int(inputs[target]), int(slowest_milli[target]))


def _give_credits(w: Arrays, edges: Words) -> None:
    """Return all credits of these edges' channels to their senders (`kernels.host_failure.give_credits`)."""
    for edge in edges[w.edge[edges, L.E_BOUND] > 0].tolist():
        channels = np.flatnonzero(w.chan[:, L.C_EDGE] == edge)
        w.chan[channels, L.C_CONSUMED] = w.carried[channels, L.SEQ_SENT]
        first = int(w.edge[edge, L.E_CREDIT])
        w.credit[first : first + len(channels) * int(w.edge[edge, L.E_BOUND])] = 0


def _count_inputs(w: Arrays) -> None:
    """Count the channels that carry barriers: those of active senders; with inner edges, only the inner ones."""
    inner = w.edge[w.chan[:, L.C_EDGE], L.E_INNER] == 1
    barred = active(w)[w.chan[:, L.C_SENDER]] & (inner if inner.any() else True)
    w.align[:, L.ALIGN_INPUTS] = np.bincount(w.chan[barred, L.C_RECEIVER], minlength=len(w.inst))


def _set_status(w: Arrays, before: NDArray[np.bool_]) -> None:
    now = active(w)
    ended, begun = before & ~now, now & ~before
    assert np.isin(w.inst[ended, L.I_STATUS], (L.IDLE, L.DOWN)).all(), "an instance to be deactivated has work in hand"
    w.inst[ended, L.I_STATUS] = L.DOWN
    w.inst[~now, L.I_TICK] = L.FAR
    up = w.host[w.inst[:, L.I_HOST], L.H_BACK] == 0
    w.inst[begun & up, L.I_STATUS] = L.IDLE


# -- instances held for an arrangement -----------------------------------------------------------------------------------------


def hold(world: World, i: int) -> None:
    """Hold instance `i`: it finishes its work in hand and begins no further service. Arriving messages wait. Its ticks are withdrawn,
    queued ones included."""
    w = world.arrays
    inst = w.inst[i]
    set_held(w, i, True)
    inst[L.I_TICK] = L.FAR
    w.host[inst[L.I_HOST], L.H_RANKED] = 1
    last = -1
    for slot in world.queue(i):
        if w.msg[slot, L.M_KIND] != L.TICK:
            last = slot
            continue
        after = int(w.msg[slot, L.M_NEXT])
        if last < 0:
            inst[L.I_QUEUE] = after
        else:
            w.msg[last, L.M_NEXT] = after
        inst[[L.I_QUEUE_COUNT, L.I_QUEUE_BYTES]] -= 1, w.msg[slot, L.M_BYTES]
        if w.memory[:, L.Z_WATCHED].any():
            w.memory[inst[L.I_HOST], L.Z_ITEMS] -= w.op[inst[L.I_OP], L.O_WEIGHT]
        free_message(w.free, w.g, slot)  # type: ignore[no-untyped-call]
    inst[L.I_QUEUE_LAST] = last
    first = inst[L.I_QUEUE]
    inst[L.I_HEAD] = L.FAR if first < 0 else turn_of(w.msg[first, L.M_READY], w.msg[first, L.M_CLASS])  # type: ignore[no-untyped-call]


def release(world: World, i: int, now_ns: int) -> None:
    """Release the held instance `i` at `now_ns`; it has the rank that its scheduling policy gave it."""
    w = world.arrays
    h = int(w.inst[i, L.I_HOST])
    set_held(w, i, False)
    if w.host[h, L.H_BACK] > 0:
        return  # it is down, and restarts empty when it is up
    keyed_state.relink(world, i)
    w.inst[i, L.I_TICK] = next_tick_ns(w, i, now_ns)
    w.host[h, L.H_TICK] = min(int(w.host[h, L.H_TICK]), int(w.inst[i, L.I_TICK]))
    look_again(world, [i], now_ns)


def next_tick_ns(w: Arrays, i: int, now_ns: int) -> int:
    """First tick of instance `i`, which stood still until `now_ns`; FAR: never.

    A source that is behind repeats the ticks that fall among its unread records; otherwise it would announce no watermark until it had
    caught up. Any other source ticks with the next period. For other operators, panes that have ended meanwhile end now.
    """
    inst = w.inst[i]
    period_ns, row = int(inst[L.I_PERIOD]), int(inst[L.I_LOG])
    if period_ns and not inst[L.I_SOURCE]:
        return (now_ns // period_ns + 1) * period_ns
    if not period_ns:
        return max(int(inst[L.I_TICK]), now_ns + 1)
    start_ns = int(w.op[inst[L.I_OP], L.O_START])
    tick_ns = start_ns + max(1, (now_ns - start_ns) // period_ns + 1) * period_ns
    if row < inst[L.I_LOG_END] and w.log[row, L.D_APPEND] <= now_ns:
        # if it already had this tick, it only repeats its watermark
        tick_ns = start_ns + max(1, (int(w.log[row, L.D_APPEND]) - start_ns) // period_ns) * period_ns
    return tick_ns if tick_ns <= w.g[L.G_HORIZON] else L.FAR
