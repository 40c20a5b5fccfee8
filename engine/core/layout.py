"""Columns of the world's tables. Woven into the compiled loop as text, so it holds constants only.

A table row is one cache line or a few: the loop touches most of what it needs of a message or an instance at once.
"""

FAR = 1 << 62  # "never", and the watermark that says "no more records"

# -- why the loop handed control back --------------------------------------------------------------------------------
DONE, NEED_MESSAGES, NEED_RING, NEED_ENTRIES, NEED_ROWS, NEED_PANES, NEED_TRACE, NEED_OUTPUTS = 0, 1, 2, 3, 4, 5, 6, 7

# -- item kinds, queue classes, instance status, partitionings ---------------------------------------------------------
RECORD, WATERMARK, TICK, END_OF_LOG = 0, 1, 2, 3
CLASS_TICK, CLASS_LOG, CLASS_LOCAL, CLASS_REMOTE = 0, 1, 2, 3
IDLE, SERVING, EMITTING, BLOCKED = 0, 1, 2, 3
FORWARD, HASH, REBALANCE, BROADCAST = 0, 1, 2, 3
SCHEME_KEY_GROUPS, SCHEME_MODULO = 0, 1
CLOCK_EVENT, CLOCK_APPEND, CLOCK_INGEST = 0, 1, 2

# -- message: header, then payload words -------------------------------------------------------------------------------
M_READY = 0  # arrival at the receiver, ns
M_CLASS = 1
M_KIND = 2
M_NEXT = 3  # the list that the message is in
M_CHANNEL = 4
M_SEQUENCE = 5  # number of the record on its channel, from 0
M_SENDER = 6  # instance
M_FIFO = 7  # the sender's running count of messages
M_EVENT = 8  # event time; of a watermark: its value
M_TRIGGER = 9  # identity of the input record that caused this one
M_CLOCK = 10  # the measured clock, of the trigger
M_NEWEST = 11  # ... of the newest contributor
M_OLDEST = 12  # ... of the oldest contributor
M_BYTES = 13
M_WEIGHT = 14  # real records that this one stands for
M_EPOCH = 15  # recovery counter
M_PAYLOAD = 16

# -- instance -----------------------------------------------------------------------------------------------------------
I_OP = 0
I_HOST = 1
I_PROCESSOR = 2
I_INDEX = 3
I_STATUS = 4
I_SOURCE = 5  # 1 if it reads a log
I_QUEUE = 6  # first message waiting, -1 if none
I_QUEUE_LAST = 7
I_QUEUE_COUNT = 8
I_QUEUE_BYTES = 9
I_OUT = 10  # first record still to be sent
I_OUT_LAST = 11
I_EDGE = 12  # emission cursor: edge (position in the operator's list) ...
I_RECEIVER = 13  # ... and receiver index on it
I_UNUSED = 14
I_FIFO = 15
I_WAKE = 16  # when the awaited credit arrives, FAR if unknown or not blocked
I_TICK = 17  # next tick
I_PERIOD = 18  # tick period of a source's watermarks, 0 if none
I_LAG = 19  # allowed disorder of a source's watermarks, ns
I_LOG = 20  # next log row
I_LOG_END = 21
I_WATERMARK = 22
I_NEWEST_EVENT = 23
I_BLOCKED_SINCE = 24
I_PANE_END = 25  # no open pane of this instance ends before
# counters, cumulative
I_IN = 26
I_EMITTED = 27
I_BUSY = 28
I_BLOCKED = 29
I_LATE = 30
I_ERRORS = 31
I_ENTRIES = 32
I_STATE_BYTES = 33
I_DELIVERED = 34
I_DIGEST = 35  # running hash over all that a sink delivered
I_COLUMNS = 36

# -- processor, host ------------------------------------------------------------------------------------------------------
P_INSTANCE, P_END, P_SLOT, P_FIRST, P_COUNT, P_HOST, P_COLUMNS = 0, 1, 2, 3, 4, 5, 6

H_RESUME = 0  # the instant to go on with after a hand-back, FAR if none
H_EMITTING = 1  # instance whose emission was cut off by lack of space, -1 if none
H_WAKE = 2  # least wake-up of its instances
H_TICK = 3  # least tick of its instances
H_PROCESSOR = 4
H_PROCESSOR_END = 5
H_MEMBER = 6  # its instances, in `host_members`
H_MEMBER_END = 7
H_LINK_FREE = 8  # egress link
H_MBIT = 9
H_SPEED = 10
H_SENT_BYTES = 11
H_LOCAL = 12  # local delay line: head, tail (running positions)
H_LOCAL_TAIL = 13
H_REMOTE = 14  # inbox: head, end of the sorted part, tail
H_REMOTE_SORTED = 15
H_REMOTE_TAIL = 16
H_COLUMNS = 17

# -- operator, edge, channel ----------------------------------------------------------------------------------------------
O_CODE, O_FIRST, O_PARALLEL, O_EDGE, O_EDGE_END, O_PARAMS, O_RECORD_PS, O_OUTPUT_PS, O_CONTROL_PS, O_SINK, O_WIDTH, O_KEEPS_ROWS, O_COLUMNS = range(13)
E_SOURCE, E_TARGET, E_PORT, E_KIND, E_KEY, E_SCHEME, E_GROUPS, E_CHANNEL, E_BOUND, E_CREDIT, E_BYTES, E_COLUMNS = range(12)
C_SENDER, C_RECEIVER, C_EDGE, C_SENT, C_CONSUMED, C_WAITING, C_WATERMARK, C_TURN, C_SENT_BYTES, C_COLUMNS = range(10)

# -- keyed state: entries by (instance and side, key, pane), stored rows, panes --------------------------------------------
S_NEXT, S_OWNER, S_KEY, S_PANE, S_SIBLING, S_COUNT, S_CLOCK, S_NEWEST, S_OLDEST, S_TRIGGER, S_VALUES = range(11)
S_HEAD, S_TAIL = 6, 7  # an entry of a join keeps rows where an aggregate keeps clocks
R_NEXT, R_EVENT, R_NEWEST, R_OLDEST, R_VALUES = range(5)
W_NEXT, W_START, W_END, W_FIRST, W_LAST, W_COUNT, W_COLUMNS = range(7)

# -- scalars of the world ----------------------------------------------------------------------------------------------------
G_FREE = 0  # free messages left on the stack
G_ENTRY = 1  # first free entry (a list), -1 if none
G_ENTRIES_FREE = 2
G_ROW = 3
G_ROWS_FREE = 4
G_PANE = 5
G_PANES_FREE = 6
G_NEED = 7  # how many of the lacking thing the last hand-back asked for
G_HOPS = 8  # records served
G_TRACE = 9  # rows in the service trace
G_OUTPUT = 10  # rows in the kept outputs
G_WINDOWS = 11
G_CLOCK = 12  # the measured clock
G_ANCHOR = 13  # column of the message that latency counts from
G_TRACING = 14
G_KEEPING = 15
G_LOCAL_NS = 16
G_LOOKAHEAD = 17
G_HORIZON = 18
G_ENTRIES_USED = 19
G_COLUMNS = 20

CONTROL_BYTES = 16
TRACE_COLUMNS = 5  # instance, start, end, kind, trigger
OUTPUT_HEADER = 7  # sink, instance, end, event, trigger, latency, unused

# -- latency buckets: exact below 128 ns, then 64 per octave: relative error below 1 / 128 -----------------------------------
BUCKETS = 128 + 56 * 64
