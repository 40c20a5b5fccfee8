"""Compiled work on whole tables, outside the loop: filling logs, rehashing keyed state, digests."""

from engine.core.compiler import compiled
from engine.core.kernels.dispatch import empty_turns, look_at, may_read
from engine.core.kernels.heaps import heap_push
from engine.core.kernels.memory import room_of, room_unsent
from engine.core.kernels.state_table import entry_bucket
from engine.core.layout import *


@compiled
def place_records(partition, cursor, append, event, trigger, words, columns, log):
    """Put the records of a chunk behind one another in the logs of their partitions, with the columns carried.

    partition, append, event, trigger: (n,). words: (n, all columns). columns: which of them. cursor: (partitions,) the next row of each,
    moved on.
    """
    for k in range(partition.shape[0]):
        p = partition[k]
        at = cursor[p]
        cursor[p] = at + 1
        log[at, D_APPEND] = append[k]
        log[at, D_EVENT] = event[k]
        log[at, D_TRIGGER] = trigger[k]
        for c in range(columns.shape[0]):
            log[at, D_PAYLOAD + c] = words[k, columns[c]]


@compiled
def keep_unread(inst, starts, old, log):
    """Put what instances have not read yet at the beginning of their new rows. starts: (instances,) first row of each in `log`."""
    for i in range(inst.shape[0]):
        at = starts[i]
        for line in range(inst[i, I_LOG], inst[i, I_LOG_END]):
            for c in range(log.shape[1]):
                log[at, c] = old[line, c]
            at += 1


@compiled
def await_logs(inst, host, memory, agenda, log):
    """Idle sources of hosts that have heaps enter their next log record, if they have one, in the heaps of their hosts."""
    count = inst.shape[0]
    for i in range(count):
        h = inst[i, I_HOST]
        held_back = memory[h, Z_FULL] == 1 and memory[h, Z_INGRESS] == INGRESS_THROTTLE
        idle = inst[i, I_STATUS] == IDLE and inst[i, I_LISTED] == LISTED_NO and inst[i, I_AWAITS] == 0 and inst[i, I_RANK] < FAR
        if host[h, H_DISPATCH] != DISPATCH_SCAN and idle and may_read(inst, log, held_back, i):
            inst[i, I_AWAITS] = 1
            heap_push(agenda, 2 * host[h, H_MEMBER], host[h, H_AGENDA], log[inst[i, I_LOG], D_APPEND], count + i)
            host[h, H_AGENDA] += 1


@compiled
def choose_anew(world, h):
    """All instances of host `h`, which has heaps, are looked at again: their ranks have changed."""
    empty_turns(world, h)
    for q in range(world.host[h, H_MEMBER], world.host[h, H_MEMBER_END]):
        look_at(world, h, world.host_members[q])


@compiled
def longest_queue(inst, op, msg, rows):
    """Real records in the longest queue of these instances. rows: (n,) their numbers. Control elements do not count."""
    longest = 0
    for k in range(rows.shape[0]):
        i = rows[k]
        waiting = 0
        slot = inst[i, I_QUEUE]
        while slot >= 0:
            if msg[slot, M_KIND] == RECORD:
                waiting += 1
            slot = msg[slot, M_NEXT]
        longest = max(longest, waiting * op[inst[i, I_OP], O_WEIGHT])
    return longest


@compiled
def counts(inst, op, columns, found):
    """What instances have counted, in real records, into `found` (k, instances).

    columns: (k, 3) of `inst`, and of what to take off it and of `op` for how many real records one is, both -1 for none.
    """
    for i in range(inst.shape[0]):
        o = inst[i, I_OP]
        for k in range(columns.shape[0]):
            count = inst[i, columns[k, 0]]
            if columns[k, 1] >= 0:
                count -= inst[i, columns[k, 1]]
            if columns[k, 2] >= 0:
                count *= op[o, columns[k, 2]]
            found[k, i] = count


@compiled
def unsent_bytes(inst, op, par, edge, msg, found):
    """Accounting bytes of the outputs that instances have made and not yet sent, into `found` (instances,)."""
    for i in range(inst.shape[0]):
        o = inst[i, I_OP]
        total = 0
        slot = inst[i, I_OUT]
        while slot >= 0:
            if msg[slot, M_KIND] == RECORD or msg[slot, M_KIND] == PENDING:
                port = 0
                if op[o, O_PORTS] > 1:
                    port = msg[slot, M_EDGE]
                e = par[op[o, O_PORT_WIDTHS] + op[o, O_PORTS] + port]
                count = 1
                if msg[slot, M_KIND] == PENDING:
                    count = msg[slot, PENDING_LEFT]
                if e >= 0:
                    total += count * edge[e, E_BYTES]
            elif msg[slot, M_KIND] == CONTROL_MESSAGE:
                total += msg[slot, M_BYTES]
            else:
                total += CONTROL_BYTES
            slot = msg[slot, M_NEXT]
        found[i] = total


@compiled
def recount(world, h):
    """Sums of what instances of host `h` have in queues, outboxes and state (docs/event-core.md, 13)."""
    inst = world.inst
    op = world.op
    msg = world.msg
    memory = world.memory
    held = 0
    state = 0
    items = 0
    for i in range(inst.shape[0]):
        if inst[i, I_HOST] == h:
            o = inst[i, I_OP]
            for aside in range(2):
                slot = world.align[i, ALIGN_ASIDE] if aside == 1 else inst[i, I_QUEUE]
                while slot >= 0:
                    held += room_of(world, h, slot)
                    items += op[o, O_WEIGHT]
                    slot = msg[slot, M_NEXT]
            slot = inst[i, I_OUT]
            while slot >= 0:
                held += room_unsent(world, h, o, slot)
                slot = msg[slot, M_NEXT]
            state += inst[i, I_STATE_BYTES]
            world.tally[i, Y_STATE] = inst[i, I_STATE_BYTES]
    memory[h, Z_HELD] = held
    memory[h, Z_STATE] = state
    memory[h, Z_ITEMS] = items


@compiled
def rehash(table, entry, fresh):
    """Fill an empty bucket array with the entries in use below `fresh`; rewrites their links."""
    for e in range(fresh):
        if entry[e, S_OWNER] >= 0:
            b = entry_bucket(entry[e, S_OWNER], entry[e, S_KEY], entry[e, S_PANE], table.shape[0])
            entry[e, S_NEXT] = table[b]
            table[b] = e


@compiled
def messages_digest(msg, slots, widths, placed, stamps, sweeping):
    """Hash of messages in the order given, over what belongs to them: the payload columns beyond a record's own are left over from earlier
    uses.

    slots, widths: (n,). placed: 1 if they were sent (arrival, channel and counts are theirs), 0 if they wait in an outbox. stamps: how many
    words at the end of a record's row are its own. sweeping: 1 if watermarks carry clocks.
    """
    d = slots.shape[0]
    for n in range(slots.shape[0]):
        s = slots[n]
        d = (d ^ msg[s, M_KIND]) * -7046029254386353131
        d = (d ^ msg[s, M_EVENT]) * -7046029254386353131
        if placed == 1:
            d = (d ^ msg[s, M_READY]) * -7046029254386353131
            d = (d ^ msg[s, M_CHANNEL]) * -7046029254386353131
            d = (d ^ msg[s, M_SEQUENCE]) * -7046029254386353131
            d = (d ^ msg[s, M_FIFO]) * -7046029254386353131
            d = (d ^ msg[s, M_BYTES]) * -7046029254386353131
        if msg[s, M_KIND] == CONTROL_MESSAGE:
            d = (d ^ msg[s, M_RECEIVER]) * -7046029254386353131
        if msg[s, M_KIND] == WATERMARK and sweeping == 1:
            for c in range(M_CLOCK, M_BYTES):
                d = (d ^ msg[s, c]) * -7046029254386353131
        if msg[s, M_KIND] == MARKER:
            for c in range(M_TRIGGER, M_BYTES):
                d = (d ^ msg[s, c]) * -7046029254386353131
        if msg[s, M_KIND] == RECORD:
            for c in range(M_TRIGGER, M_BYTES):
                d = (d ^ msg[s, c]) * -7046029254386353131
            d = (d ^ msg[s, M_INCARNATION]) * -7046029254386353131
            for c in range(msg.shape[1] - stamps, msg.shape[1]):
                d = (d ^ msg[s, c]) * -7046029254386353131
        for c in range(M_PAYLOAD, M_PAYLOAD + widths[n]):
            d = (d ^ msg[s, c]) * -7046029254386353131
        d ^= d >> 32
    return d


@compiled
def state_digest(table, entry, row, row_words, group_words, first_row, stamps):
    """Sum of the hashes of all entries of keyed state with the rows they keep: the same wherever they stand.

    row_words, group_words, first_row: (instances,) of each instance's operator, as in `engine.core.layout` (O_ROW_WORDS, ...). stamps: how
    many words at the end of a row and of an entry are its own.
    """
    total = table[0] * 0
    for b in range(table.shape[0]):
        e = table[b]
        while e >= 0:
            owner = entry[e, S_OWNER]
            d = owner * -7046029254386353131
            d = (d ^ entry[e, S_KEY]) * -7046029254386353131
            of = e
            if owner >= DISTINCT_VALUES:
                of = entry[e, S_PANE]
                d = (d ^ entry[of, S_OWNER]) * -7046029254386353131
                d = (d ^ entry[of, S_KEY]) * -7046029254386353131
            d = (d ^ entry[of, S_PANE]) * -7046029254386353131
            if owner < DISTINCT_VALUES:
                for c in range(S_COUNT, S_COUNT + group_words[owner]):
                    d = (d ^ entry[e, c]) * -7046029254386353131
                for c in range(entry.shape[1] - stamps, entry.shape[1]):
                    d = (d ^ entry[e, c]) * -7046029254386353131
                first = first_row[owner]
                sides = 0
                if row_words[owner] > 0:
                    sides = 1
                    if first == 0:
                        first = S_LEFT + 1
                        sides = 2
                for side in range(sides):
                    at = first + side * S_SIDE
                    count = entry[e, at - 1] if sides == 2 else entry[e, S_COUNT]
                    d = (d ^ count) * -7046029254386353131
                    r = entry[e, at]
                    for _ in range(count):
                        if r < 0:  # fewer are kept than were counted
                            break
                        for c in range(R_EVENT, R_EVENT + row_words[owner]):
                            d = (d ^ row[r, c]) * -7046029254386353131
                        for c in range(row.shape[1] - stamps, row.shape[1]):
                            d = (d ^ row[r, c]) * -7046029254386353131
                        r = row[r, R_NEXT]
            total += d ^ (d >> 32)
            e = entry[e, S_NEXT]
    return total
