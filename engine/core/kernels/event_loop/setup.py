"""What the loop reads once, before its first window."""

from engine.core.kernels.memory import is_memory_on
from engine.core.layout import *


def name_tables():
    """Give the tables of the run the names by which fragments and kernels use them."""
    msg = world.msg
    msg_f = world.msg_f
    free = world.free
    inst = world.inst
    proc = world.proc
    members = world.members
    host = world.host
    host_members = world.host_members
    agenda = world.agenda
    tags = world.tags
    turns = world.turns
    listed = world.listed
    next_ns = world.next_ns
    op = world.op
    op_edges = world.op_edges
    edge = world.edge
    chan = world.chan
    carried = world.carried
    gate = world.gate
    vectors = world.vectors
    sent_to = world.sent_to
    align = world.align
    inputs = world.inputs
    input_first = world.input_first
    credit = world.credit
    latency = world.latency
    link = world.link
    memory = world.memory
    tally = world.tally
    progress = world.progress
    epochs = world.epochs
    rings = world.rings
    route = world.route
    touched = world.touched
    log = world.log
    par = world.par
    par_f = world.par_f
    points = world.points
    points_f = world.points_f
    point_first = world.point_first
    code = world.code
    constants = world.constants
    stack = world.stack
    stack_f = world.stack_f
    table = world.table
    entry = world.entry
    entry_f = world.entry_f
    row = world.row
    row_f = world.row_f
    pane = world.pane
    panes_of = world.panes_of
    histogram = world.histogram
    latency_sums = world.latency_sums
    by_instance = world.by_instance
    trace = world.trace
    notes = world.notes
    entry_origin = world.entry_origin
    row_origin = world.row_origin
    behind = world.behind
    outputs = world.outputs
    changes = world.changes
    change_words = world.change_words
    hook = world.hook
    box = world.box
    g = world.g


def read_settings():
    """Read the constants of the run. What a loop is woven without stays 0 and leaves no trace in the machine code."""
    memory_on = False
    # WEAVE if memory
    memory_on = is_memory_on(memory)
    # WEAVE end
    control_mode = CONTROL_OFF
    # WEAVE if actors
    control_mode = CONTROL_ON
    # WEAVE end
    # WEAVE if losses
    if g[G_LEFT] > 0:
        control_mode = CONTROL_WITH_LOSSES
    # WEAVE end
    heaps = 0
    # WEAVE if heaps
    heaps = 1
    # WEAVE end
    machines = g[G_MACHINES]
    actors = g[G_ACTORS]
    hosts = next_ns.shape[0]  # machines, then trunks, then actors
    inst_count = listed.shape[0]
    ring_capacity = rings.shape[1]
    ring_mask = ring_capacity - 1
    local_ns = g[G_LOCAL_NS]
    lookahead = g[G_LOOKAHEAD]
    horizon = g[G_HORIZON]
    anchor = g[G_ANCHOR]
    tracing = g[G_TRACING] == 1
    keeping = g[G_KEEPING] == 1
    changing = False
    # WEAVE if changes
    changing = g[G_CHANGING] > 0
    # WEAVE end
    stamps = 0
    # WEAVE if latencies
    stamps = g[G_STAMPS]
    # WEAVE end
    noting = 0
    if tracing:
        noting = NOTE_WAY
    # WEAVE if losses
    noting += NOTE_LEFT * g[G_LEFT]
    # WEAVE end
