"""The event loop, in the order of `docs/event-core.md`; the sections named in this package are of that page.

`advance` is the plan of the loop. Every line `name()` in it stands for the lines of the *fragment* of that name, which is a function of
this package. `engine.core.fragments` puts them in, `engine.core.weave` completes the text with the operators' kernels, and the result is
compiled as one function. It is one because it can stop nearly everywhere and continues there. What cannot stop is in kernels, which are
called with arguments and may be used elsewhere, too.

What makes it fast:

* Conservative windows. Hosts influence each other after `lookahead` ns at least, so within [t0, t0 + lookahead) each is one tight loop.
* No heap. On a host the next instant is the least of a few heads: services in progress, two rings of arrivals, logs, ticks, credits.
* Admission. Every arrival joins its receiver's queue in order of time, so what waits is known whenever a processor chooses.
* Emission is a cursor. Outputs leave one at a time and can stop before any of them: for lack of credit (model) or of space (engine).
* Re-entry. Where an array is full the loop hands back at that very point; Python enlarges the array and calls again. Nothing is done twice.
"""

from engine.core.kernels.event_loop.arrivals import admit_ticks_and_arrivals
from engine.core.kernels.event_loop.completions import complete_and_wake_up
from engine.core.kernels.event_loop.dispatch import dispatch
from engine.core.kernels.event_loop.instant import find_next_instant, hand_back
from engine.core.kernels.event_loop.memory import look_at_memory
from engine.core.kernels.event_loop.setup import name_tables, read_settings
from engine.core.kernels.event_loop.sharing import count_work, set_rate
from engine.core.kernels.event_loop.window import begin_host, begin_window, end_window
from engine.core.layout import *


def advance(world, stop):
    """Do everything at times <= stop. Returns DONE, or the reason for handing back (call again after mending it)."""
    name_tables()
    read_settings()
    while True:  # windows
        begin_window()
        for h in range(machines):  # hosts
            begin_host()
            while True:  # instants
                find_next_instant()
                if sharing == 1:
                    count_work()
                complete_and_wake_up()  # phases 1 and 2, with emission
                hand_back()
                admit_ticks_and_arrivals()  # phases 3 and 4
                hand_back()
                dispatch()  # phase 5, with the work of services
                hand_back()
                look_at_memory()
                if sharing == 1:
                    set_rate()
            if reason != DONE:
                break
        end_window()
