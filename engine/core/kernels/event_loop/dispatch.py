"""Phase 5 of an instant (section 2): idle processors choose items."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.background import begin_background_work
from engine.core.kernels.dispatch import may_read, next_turn
from engine.core.kernels.event_loop.messages import serve_message
from engine.core.kernels.event_loop.service import add_watermark, begin_service, check_space_for_service, price_service, start_service
from engine.core.kernels.event_loop.sources import read_log
from engine.core.kernels.heaps import heap_push, turn_pop, turn_push
from engine.core.layout import *


def dispatch():
    """Section 2, phase 5: every idle processor takes the least item in queue order, and starts its service (section 3)."""
    p = first_processor - 1
    # WEAVE if background
    if host[h, H_BACKGROUND_PS] > 0 and host[h, H_BACKGROUND_END] == FAR:
        begin_background_work(world, h, t)
    # WEAVE end
    while True:
        choose_item()
        check_space_for_service()
        begin_service()
        if best_class == CLASS_LOG:  # (5)
            read_log()
        else:
            serve_message()
        add_watermark()
        price_service()
        start_service()


def choose_item():
    """Phase 5: choose an idle processor `p`, and the instance `i` whose item it takes."""
    while IN_LOOP:  # over the services
        best = -1
        best_rank = FAR
        best_turn = FAR
        if dispatch_mode == DISPATCH_TURN_HEAP:
            choose_by_turn()
        elif dispatch_mode == DISPATCH_DEDICATED:
            if host[h, H_LISTED] == 0:
                break
            p = inst[listed[member + host[h, H_LISTED] - 1], I_PROCESSOR]
        else:
            p += 1
            if p == end_processor:
                break
            if proc[p, P_INSTANCE] != -1:
                continue
        looked_at = proc[p, P_COUNT] if dispatch_mode != DISPATCH_TURN_HEAP else 0
        scan = proc[max(p, 0), P_FIRST]  # of those who take turns nobody has been chosen yet
        for q in range(scan, scan + looked_at):
            i = members[q]
            if inst[i, I_STATUS] != IDLE:
                continue
            its_turn = next_turn(inst, log, held_back, control_mode, i, t)
            if host[h, H_RANKED] == 1:
                rank = inst[i, I_RANK]
                if rank > best_rank or rank == FAR:
                    continue
                if rank < best_rank and its_turn < FAR:
                    best_rank = rank
                    best_turn = FAR
            if its_turn < best_turn:
                best = i
                best_turn = its_turn
        if best < 0:
            await_log()
            continue
        i = best
        best_ready = best_turn >> 2
        best_class = best_turn & 3


def choose_by_turn():
    """Processors with a heap of turns: choose the first instance, if the item by which it was ordered is still its next one."""
    while IN_LOOP:  # over the services
        if host[h, H_IDLE] == 0:
            break
        turn = -1
        if host[h, H_LISTED] > 0:
            host[h, H_LISTED] -= 1
            i = listed[member + host[h, H_LISTED]]
        else:
            p += 1
            if p == end_processor:
                break
            leader = proc[p, P_LEADER]
            if proc[p, P_INSTANCE] != -1 or proc[leader, P_TURNS] == 0:
                continue
            turn = proc[p, P_FIRST]
            i = turns[turn, TURN_WHO] & 0xFFFFFFFFFF
        if inst[i, I_STATUS] == IDLE and inst[i, I_RANK] < FAR:
            best_turn = next_turn(inst, log, held_back, control_mode, i, t)
        best_ready = best_turn >> 2
        who = (best_turn & 3) << 40 | i
        if turn >= 0 and turns[turn, TURN_READY] == best_ready and turns[turn, TURN_WHO] == who:
            best = i
        else:
            if turn >= 0:  # what it waited with is gone
                turn_pop(turns, turn, proc[leader, P_TURNS])
                proc[leader, P_TURNS] -= 1
                p -= 1
            inst[i, I_LISTED] = LISTED_NO
            if best_turn < FAR:
                inst[i, I_LISTED] = LISTED_HEAP
                leader = proc[inst[i, I_PROCESSOR], P_LEADER]
                turn_push(turns, proc[leader, P_FIRST], proc[leader, P_TURNS], inst[i, I_RANK], best_ready, who)
                proc[leader, P_TURNS] += 1
                continue


def await_log():
    """Host with heaps: look at an instance that has nothing to serve again when its next log record is due."""
    if dispatch_mode == DISPATCH_DEDICATED:
        host[h, H_LISTED] -= 1
        i = listed[member + host[h, H_LISTED]]
        inst[i, I_LISTED] = LISTED_NO
    if dispatch_mode != DISPATCH_SCAN:
        if inst[i, I_STATUS] == IDLE and inst[i, I_AWAITS] == 0 and inst[i, I_RANK] < FAR and may_read(inst, log, held_back, i):
            inst[i, I_AWAITS] = 1
            heap_push(agenda, 2 * member, host[h, H_AGENDA], log[inst[i, I_LOG], D_APPEND], inst_count + i)
            host[h, H_AGENDA] += 1
