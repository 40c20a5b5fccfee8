"""Columns of the world's tables. Woven into the compiled loop as text, so it holds constants only.

A table row is one cache line or a few: the loop touches most of what it needs of a message or an instance at once.
"""

FAR = 1 << 62  # "never", and the watermark that says "no more records"

# -- why the loop handed control back --------------------------------------------------------------------------------
DONE, NEED_MESSAGES, NEED_RING, NEED_ENTRIES, NEED_ROWS, NEED_PANES, NEED_TRACE, NEED_OUTPUTS = 0, 1, 2, 3, 4, 5, 6, 7
ACTORS, CALL_OUT = 8, 9  # an actor has something to do; an instance has been handed a control message
DEATH = 10  # a host has died that will restart
NEED_VECTORS = 11
RISEN = 12  # a watermark has risen that a scheduling policy waits for
NEED_CHANGES = 13

# -- item kinds, queue classes, instance status, partitionings ---------------------------------------------------------
RECORD, WATERMARK, TICK, END_OF_LOG, CONTROL_MESSAGE, BARRIER, MARKER = 0, 1, 2, 3, 4, 5, 6
PENDING = 7  # in outboxes: outputs of a firing that are not made before it is their turn to be sent
CLASS_TICK, CLASS_LOG, CLASS_LOCAL, CLASS_REMOTE = 0, 1, 2, 3
IDLE, SERVING, EMITTING, BLOCKED, DOWN = 0, 1, 2, 3, 4
FORWARD, HASH, REBALANCE, BROADCAST, RESCALE = 0, 1, 2, 3, 4
OTHER_PARTITIONINGS = 5  # the first of those whose kernels are woven in
DISPATCH_SCAN = 0  # all instances of an idle processor are looked at
DISPATCH_DEDICATED = 1  # a processor for each instance: due times stand in a heap, and only listed instances are looked at
DISPATCH_TURN_HEAP = 2  # many instances share processors: those with something to serve stand in a heap of turns, too
LISTED_NO, LISTED_SCAN, LISTED_HEAP = 0, 1, 2  # not listed; in the host's list of instances to look at; in its processors' heap of turns
CALL_NONE, CALL_DONE, CALL_DONE_HOLD = 0, 1, 2  # not answered; answered; answered, and the instance is held from this service on
CONTROL_OFF, CONTROL_ON, CONTROL_WITH_LOSSES = 0, 1, 2  # none; control messages and barriers; also messages of epochs that are over
SCHEME_KEY_GROUPS, SCHEME_MODULO = 0, 1
CLOCK_EVENT, CLOCK_APPEND, CLOCK_INGEST = 0, 1, 2
PAIRED, ADDED, MERGED = 0, 1, 2  # whose contributors count for whom: two records of a join, a record for a group, a group for a group
LOG_END, LOG_WATERMARK, LOG_AHEAD = -1, -2, -3  # the last: what is not loaded yet
LOG_MARKER = -4  # less the number of the latency marker
VECTOR_BITS = 40  # the word of a vector: above these bits the number of its field in the run, in them that of its record
EPOCH = 1 << 20  # an incarnation is this times the number of recoveries before it, plus the number of losses of its host since
REPLAYED = EPOCH - 1  # added to the incarnation of a record that was replayed from the log: no credit was taken for it
TO_SINK, TO_EMIT, TO_READ, TO_WATERMARK, TO_MARKER = 0, 1, 2, 3, 4  # of the last three, deliveries of records have none

AHEAD = 4  # so many rows before a log's row is read it is fetched

# -- row of a source's log: header, then payload words ----------------------------------------------------------------
D_APPEND = 0
D_EVENT = 1
D_TRIGGER = 2  # identity of the record; of rows that are no records LOG_END, LOG_WATERMARK, or LOG_MARKER and less
D_PAYLOAD = 3

# -- message: header, then payload words -------------------------------------------------------------------------------
M_READY = 0  # arrival at the receiver, ns (while a cut link holds the message: its tie ...
M_CLASS = 1  # ... and when it was sent)
M_KIND = 2
M_NEXT = 3  # the list that the message is in
M_RECEIVER = 4  # instance; of a control message also instances + actor
M_EDGE = 5  # while it waits in the outbox of an operator with several output ports: the number of its port
M_CHANNEL = 6
M_FIFO = 7  # the sender's running count of messages
M_EVENT = 8  # event time; of a watermark: its value; of a barrier: its number; of a latency marker: when it was made
M_TRIGGER = 9  # identity of the input record that caused this one; of a latency marker: what is left of its number
M_CLOCK = 10  # the measured clock, of the trigger (of a watermark or marker: when its source took it in ...
M_NEWEST = 11  # ... of the newest contributor (... when it stood in the log ...
M_OLDEST = 12  # ... of the oldest contributor (... and when it was made)
M_BYTES = 13
M_HASH = 14  # of the entry of keyed state that the receiver will look for (`state_table.entry_hash`), a hint; 0: unknown
M_INCARNATION = 15  # I_INCARNATION of the sender when it was sent
M_SEQUENCE = 16  # number of the record on its channel, from 0, where the channel counts
M_PAYLOAD = 17
MIXED = 0  # no column of its own, so a stamp only: the oldest contributor of a pair, the newest one of a group
# of what is pending: how many outputs are left; where the next one is looked for: entry, stored record of either side, pane, list of
# panes; the latest end of panes that fire, and the latest that have fired before; which panes are freed behind the last output
(
    PENDING_LEFT,
    PENDING_ENTRY,
    PENDING_ROW,
    PENDING_OTHER_ROW,
    PENDING_PANE,
    PENDING_LIST,
    PENDING_LIMIT,
    PENDING_FIRED_TO,
    PENDING_FREED_TO,
) = range(M_EVENT, M_PAYLOAD)
# the last words of a message, a stored row and an entry are its stamps, from the end on: clocks carried beside the measured one. Where
# further latencies are asked for, the word before those of a message says when it was sent

# -- instance: what every instant looks at stands in the first cache line, then what every item needs ---------------------
I_STATUS = 0
I_QUEUE = 1  # first message waiting, -1 if none ...
I_HEAD = 2  # ... its turn (`dispatch.turn_of`), FAR if none
I_LOG = 3  # next log row
I_LOG_END = 4
I_TICK = 5  # next tick
I_SOURCE = 6  # 1 if it reads a log
I_OP = 7
I_HOST = 8
I_INDEX = 9
I_QUEUE_LAST = 10
I_QUEUE_COUNT = 11
I_QUEUE_BYTES = 12
I_OUT = 13  # first message still to be sent
I_EDGE = 14  # emission cursor: edge (position in the operator's list) ...
I_RECEIVER = 15  # ... and receiver index on it
I_FIFO = 16
I_COST = 17  # cost of the last service, ps ...
I_SERVICE = 18  # ... and its duration, ns: most services cost the same, and a division takes longer than a look
I_IN = 19  # counters, cumulative
I_EMITTED = 20
I_BUSY = 21
I_WAIT = 22  # of records: from ready to the start of their service, summed ...
I_NETWORK = 23  # ... of records sent: from then to their arrival
I_PANE_END = 24  # no open pane of this instance ends before
I_PERIOD = 25  # tick period of the watermarks that it makes, 0 if it makes none
I_WAKE = 26  # when the awaited credit arrives, FAR if unknown or not blocked
I_BLOCKED_SINCE = 27  # since when this emission has been held back, -1 if it is not
I_BLOCKED = 28
I_WATERMARK = 29
I_NEWEST_EVENT = 30  # of a source; FAR for another operator that makes watermarks: its inputs have ended
I_ENTRIES = 31
I_STATE_BYTES = 32
I_DELIVERED = 33
I_DIGEST = 34  # running hash over all that a sink delivered
I_PROCESSOR = 35
I_LISTED = 36  # where it stands if it may have something to serve, LISTED_*
I_AWAITS = 37  # 1 if its next log record stands in its host's heap of due times
I_RANK = 38  # that of its scheduling policy, or FAR while it is held: the least is served first, FAR: not at all
I_STOLEN = 39  # ns in service without a core
I_LATE = 40
I_ERRORS = 41
I_HELD = 42  # of records sent: from the end of the service to then, summed
I_CONTROL_NS = 43  # of I_BUSY: the part of control elements
I_CONTROLS = 44  # of I_FIFO: the part of control elements
I_SHIFT = 45  # of a source whose generator waits for it: by how much its records come later than their times, ns; -1: it does not
I_NOISE = 46  # key of the random numbers for its services ...
I_SERVICES = 47  # ... and how many of them began, where their cost varies
I_LOST = 48  # records sent to it and never served ...
I_UNSENT = 49  # ... and what it had taken in and could not send: copies of outputs, deliveries
I_INCARNATION = 50  # its epoch, and how often its host was lost meanwhile: see `EPOCH`
I_COLD = 51  # records served before its process started for the last time
I_KIND = 52  # where hosts can be lost: kind of the item in service
I_UP = 53  # when its process was started, ns
I_LAG = 54  # allowed disorder of a source's watermarks, ns
I_AGAIN = 55  # records of its log whose service began and that it has to read again, because it went back
I_COLUMNS = 56  # whole cache lines

# -- processor, host ------------------------------------------------------------------------------------------------------
# P_INSTANCE: -1 while it is idle, BACKGROUND while it does background work
P_INSTANCE, P_END, P_SLOT, P_FIRST, P_COUNT, P_HOST, P_START, P_SERVICE = 0, 1, 2, 3, 4, 5, 6, 7
P_LEADER = 8  # the first of the processors that serve the same instances
P_TURNS = 9  # of a leader: size of the heap of instances that have something to serve
P_COLUMNS = 10
BACKGROUND = -2

H_RESUME = 0  # the instant to go on with after a hand-back, FAR if none
H_EMITTING = 1  # instance whose emission was cut off by lack of space, -1 if none
H_WAKE = 2  # least wake-up of its instances
H_TICK = 3  # least tick of its instances
H_PROCESSOR = 4
H_PROCESSOR_END = 5
H_MEMBER = 6  # its instances, in `host_members`
H_MEMBER_END = 7
H_LINK_FREE = 8  # egress link (of a trunk's row: the trunk)
H_MBIT = 9
H_SPEED = 10
H_SENT_BYTES = 11
H_LOCAL = 12  # local delay line: head, tail (running positions)
H_LOCAL_TAIL = 13
H_REMOTE = 14  # inbox: head, end of the sorted part, tail
H_REMOTE_SORTED = 15
H_REMOTE_TAIL = 16
H_DISPATCH = 17  # how its processors find an instance with something to serve, DISPATCH_*
H_RANKED = 18  # 1: a scheduling policy ranks the instances
H_AGENDA = 19  # size of the heap of service ends and awaited log records
H_LISTED = 20  # size of the list of threads to look at
H_SHARING = 21  # 1: processor sharing (docs/event-core.md, 3.1)
H_RUNNING = 22  # threads in service: size of the heap of tags
H_WORK = 23  # units of work that a thread in service all the time would have got
H_WORK_AT = 24  # ... at this time
H_RATE = 25  # units per ns and thread from then on
H_UNITS = 26  # units per ns of all cores
H_TAXED = 27  # ... with more threads than cores
H_UNTAXED = 28  # most threads that are not taxed
H_QUOTA = 29  # units per period, 0: no quota
H_QUOTA_LEFT = 30
H_PERIOD = 31
H_PERIOD_END = 32
H_PAUSED = 33  # nothing happens before
H_OWN_SPEED = 34  # without faults
H_BACK = 35  # when the host is up again if it is down: FAR for never; 0: it is up
H_CALL = 36  # whether the call-out of this host has been answered, CALL_*: with these messages (first, last) and so much more work
H_ANSWER = 37
H_ANSWER_LAST = 38
H_ANSWER_PS = 39
H_IDLE = 40  # idle processors, where turns are taken from heaps
H_OUT_BYTES = 41  # of what its instances have put on channels, to instances of its own too
H_PIGGYBACK_BYTES = 42  # ... of these: what records carry for a protocol
H_BARRIER_BYTES = 43  # ... and barriers
H_BACKGROUND_PS = 44  # background work that waits for a processor ...
H_BACKGROUND_NS = 45  # ... how long processors have worked on it ...
H_BACKGROUND_END = 46  # ... when what is in progress ends, FAR if none is
H_RISEN = 47  # when a watched watermark rose in the last instant, FAR if none did
H_COLUMNS = 48

# -- what a host holds in memory (docs/event-core.md, 13) -----------------------------------------------------------------------------
Z_WATCHED = 0  # 1: looked at at the end of each instant
Z_MODELLED = 1  # 1: it has a memory model; else nothing is used
Z_LAW = 2  # row of `footprint`: what messages count here
Z_BASE = 3
Z_STATE_MILLI = 4
Z_HELD = 5  # of messages in queues and outputs not yet sent, by the host's law
Z_STATE = 6  # accounting bytes of its instances' state
Z_ITEMS = 7  # items in queues, in real records
Z_USED = 8  # at the end of its last instant
Z_PEAK = 9
Z_LIMIT = 10  # FAR: none
Z_CURVE = 11  # its points in `curve`: first, end
Z_CURVE_END = 12
Z_PRESSURE = 13  # factor of costs, in units of 2^-16
Z_INGRESS = 14
Z_FULL = 15
Z_ITEMS_MAX = 16  # FAR: no mark
Z_ITEMS_RESUME = 17
Z_USED_MAX = 18
Z_USED_RESUME = 19
Z_DIED = 20  # when, -1 if it lives, or is down and will be back
Z_RESTART = 21  # how long a host that dies is down, FAR: for ever
Z_COLUMNS = 22
Y_SHED = 0  # of each instance: records that it threw away ...
Y_STATE = 1  # ... bytes of state that its host has counted ...
Y_RANK = 2  # ... what a scheduling policy ranks it ...
Y_HELD = 3  # ... 1 while it is held, whatever its rank ...
Y_WATCHED = 4  # ... and 1 while a scheduling policy waits for its watermark to rise
Y_READ = 5  # ... stored records and distances that its services have read (no part of the digest)
Y_COLUMNS = 6
INGRESS_READ, INGRESS_THROTTLE, INGRESS_DROP = 0, 1, 2
NO_PRESSURE = 1 << 16

# -- operator, edge, channel ----------------------------------------------------------------------------------------------
(
    O_CODE,
    O_FIRST,
    O_PARALLEL,  # its active instances, from index O_BEGIN on, of ...
    O_EDGE,
    O_EDGE_END,
    O_PARAMS,
    O_RECORD_PS,
    O_OUTPUT_PS,
    O_CONTROL_PS,
    O_READ_PS,
    O_SINK,
    O_WIDTH,
    O_ROW_WORDS,  # words of a stored record that are state, 0 if it stores none
    O_GROUP_WORDS,  # words of an entry that are state, from S_COUNT on; 0 for the entries of joins
    O_FIRST_ROW,  # column of an entry's first stored record, 0 if it stores none or by side
    O_PORTS,  # output ports
    O_PORT_WIDTHS,  # where the numbers of fields on them stand, in the parameters; behind them the first edge that leaves each, or -1
    O_NOISE,  # where what varies the cost of its services stands, in the parameters; -1: nothing does
    O_WEIGHT,  # how many real records one that it serves stands for ...
    O_WEIGHT_OUT,  # ... and one that it emits
    O_HEADS,  # column of an entry's first list of distinct values ...
    O_HEADS_COUNT,  # ... and number of such lists
    O_LISTS,  # what each instance has in `panes_of`: number of the first, ...
    O_LISTS_EACH,  # ... how many ...
    O_LISTS_LINK,  # ... and of what: 0 panes, k > 0 stored rows linked by their column k, -1 what is found without them
    O_INNER_PS,  # work of logging an output on the inner edges that leave it, where that comes and goes
    O_STRIDE,  # ... so many that it is laid out with
    O_ATTAINABLE,  # share of the time of a service that is work, in units of 2^-16; the rest is stolen
    O_START,  # when its query starts, ns: ticks of its sources count from there
    O_DEADLINES,  # of sources and sinks: where the ends of their query's windows stand, in the parameters; -1: it has no such windows
    O_BEGIN,  # index of its first active instance; not 0 only where operators move (feature `moves`)
    O_SCAN_PS,  # work of its local store: to read a range ...
    O_GET_PS,  # ... to read a key ...
    O_WRITE_PS,  # ... and to put or delete one
    O_COLUMNS,
) = range(35)
(
    E_SOURCE,
    E_TARGET,
    E_PORT,
    E_KIND,
    E_KEY,
    E_SCHEME,
    E_GROUPS,
    E_CHANNEL,
    E_BOUND,
    E_CREDIT,
    E_BYTES,
    E_ROUTE,  # first word of the edge in `route`: of `hash` the receiver of each group, of other packages what their kernels read
    E_COUNTED,
    E_FEEDBACK,  # 1: leads back, so it carries no watermarks
    E_OUTPUT,  # number of the sender's output port
    E_INNER,  # 1: within a region of coordinated checkpoints: where there are regions, it alone carries barriers
    E_SENT_PS,  # work of serialising a record for another host ...
    E_RECEIVED_PS,  # ... and of deserialising one that comes from there
    E_COLUMNS,
) = range(19)

# -- link with something of its own: its bandwidth, a trunk, faults. `latency` of its pair of hosts is -1 - its row ----------------
LINK_LATENCY = 0
LINK_UP = 1  # what is sent before this time waits at the sender; FAR: for ever
LINK_INBOX = 2  # where its messages go first: the receiving host, or a trunk
LINK_MBIT = 3  # 0: it is part of the sender's egress FIFO
LINK_FREE = 4
LINK_BYTES = 5  # that have left
LINK_ARRIVED = 6  # latest arrival: a link never reorders
LINK_HELD = 7  # first message that waits, -1 if none
LINK_HELD_LAST = 8
LINK_HELD_COUNT = 9
LINK_SOURCE = 10
LINK_TARGET = 11
LINK_COLUMNS = 12

# -- alignment of barriers (docs/event-core.md, 15), by channel: the generation of its receiver in which it is barred; where records are
# logged: the first and last message kept, or -1; the serial number of the row of `vectors` brought last; how many records came before
# its last barrier; while what is sent is logged: how many of the records sent are not in the log; while it is not: -1 - how many are; since
# when it is barred ... --
Q_GENERATION, Q_KEPT, Q_KEPT_LAST, Q_VECTOR, Q_CUT, Q_LOG, Q_BARRED, Q_COLUMNS = range(8)
# ... by instance: input channels, how many of them are barred, what is passed over (first and last message, -1 for none), how often it
# has been aligned or given up, when the first barrier of its last alignment was served, O_INNER_PS while it logs what it sends on inner
# edges, else 0; when it was aligned for the last time, and how long the records that it served had waited for that, summed
(
    ALIGN_INPUTS,
    ALIGN_BARRED,
    ALIGN_ASIDE,
    ALIGN_ASIDE_LAST,
    ALIGN_GENERATION,
    ALIGN_SINCE,
    ALIGN_INNER_PS,
    ALIGN_RELEASED,
    ALIGN_WAITED,
    ALIGN_COLUMNS,
) = range(10)

# -- what instances know of one another's checkpoints (`engine.core.kernels.dependency_vectors`): the row that has been shared since the
# last change, or -1 (of a free row: the next one); its serial number; Lamport clock; from here on for each instance its checkpoints x 4
# and KNOWS_* --------------------------------------------------------------------------------------------------------------------------
KNOWN_SHARED, KNOWN_SERIAL, KNOWN_MARK, KNOWN_CLOCK, KNOWN_FIRST = range(5)
KNOWS_TAKEN, KNOWS_GREATER = 1, 2
RULE_CLOCK, RULE_CYCLE, RULE_INDEX = 1, 2, 4  # HMNR's two tests, or BCS

# C_TURN: of the first channel of a sender on an edge: how many records it has sent there; partitionings that take turns read it
# C_HELD: the sender holds back records with lower numbers, and the marks before them
C_SENDER, C_RECEIVER, C_EDGE, C_CONSUMED, C_WAITING, C_WATERMARK, C_TURN, C_HELD, C_COLUMNS = range(9)
# where records are counted (E_COUNTED), by channel: the number of the next one to be sent, and of the next one that the receiver has not
# served; apart, since each record asks for them and the rows of all channels do not fit into the cache
SEQ_SENT, SEQ_PROCESSED, SEQ_COLUMNS = range(3)

# -- keyed state: entries by (instance and side, key, pane), stored rows, panes --------------------------------------------
S_NEXT, S_OWNER, S_KEY, S_PANE, S_SIBLING, S_COUNT, S_CLOCK, S_NEWEST, S_OLDEST, S_TRIGGER, S_VALUES = range(11)
S_LEFT = 5  # an entry of a join keeps, for each side, count, first and last row
S_SIDE = 3  # ... in so many columns
DISTINCT_VALUES = 1 << 40  # owners from here on: the k-th aggregate's values, whose S_PANE is the entry that they belong to
R_NEXT, R_EVENT, R_NEWEST, R_OLDEST, R_VALUES = range(5)
W_NEXT, W_START, W_END, W_FIRST, W_LAST, W_COUNT = range(6)
W_COLUMNS = 8

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
G_ENTRY_FRESH = 20  # entries from here on were never used
G_ROW_FRESH = 21
G_ENTRIES_SIZE = 22  # entries that the buckets are made for, and rows of the table of stored rows
G_ROWS_SIZE = 23
G_MACHINES = 24  # rows of `host` below are machines, from here on trunks ...
G_ACTORS = 25  # ... and from here on actors
G_WINDOW_END = 26  # of the last window: actors do what is due until then
G_TRACE_BASE = 27  # number of the first row of the trace; those before were dropped
G_STAMPS = 28  # number of stamps, at most 8; by stamp its clock ...
G_STAMP_CLOCK = 29
G_STAMP_ANCHOR = 37  # ... and whose: M_CLOCK that of the trigger, M_NEWEST and M_OLDEST as there, or MIXED
G_MEASURES = 45  # latencies beside the measured one, at most 8; of each the column of a message that it counts from ...
G_MEASURE_FROM = 46
G_MEASURE_TO = 54  # ... and to which point
G_LEFT = 62  # where hosts can be lost: the column of a message that says when it left its host; else 0
G_LOST = 63  # control messages that are lost and still have their parcels, -1 if none
G_ENTRIES_FREED = 64  # how often an entry was freed
G_FILTER = 65  # 1: a record that has been served is dropped when it comes again
G_VECTOR = 66  # where records bring rows of `vectors`: the column of a message for its row; else 0 ...
G_FORCING_RULE = 67  # ... sum of RULE_* ...
G_VECTOR_BYTES = 68  # ... how many bytes that adds to a record ...
G_VECTOR_FREE = 69  # ... first free row (a list), -1 if none ...
G_VECTOR_ROWS_FREE = 70
G_VECTOR_SERIAL = 71  # ... and how many rows have been shared so far
G_OVERTAKE = 72  # 1: barriers overtake what waits, and bar nothing
G_SWEEPING = 73  # 1: latencies of watermarks are measured
G_EPOCHS = 74  # how many epochs of each source instance are kept; 0: none
G_AT_ONCE = 75  # a firing with more outputs than this makes them one by one, as they are sent
G_CHANGING = 76  # 1: changes of keyed state are noted, 2: with what they make of entries and rows ...
G_CHANGES = 77  # ... in so many rows of `changes`
G_COVERED = 78  # first column of entries that says, by sending instance, how many of its records an entry covers; 0: none does
G_COLUMNS = 79

# -- the windows of a query, in the parameters: how many, then of each the end of one pane, and the distance to the next, ns ------------
DEADLINES_COUNT, DEADLINES_FIRST = 0, 1

# -- epochs of a source instance (docs/event-core.md, 17): what it took in since its last sweeping watermark: entries, delays in us, and
# their squares in two words, the second in units of SQUARES; epochs ended so far; where its ring in `epochs` begins ---------------------
PROGRESS_COUNT, PROGRESS_SUM, PROGRESS_SQUARES, PROGRESS_SQUARES_HIGH, PROGRESS_EPOCHS, PROGRESS_FIRST, PROGRESS_COLUMNS = range(7)
# ... an epoch that ended: the same four, then value, time of making and of taking in of the watermark that ended it
EPOCH_COUNT, EPOCH_SUM, EPOCH_SQUARES, EPOCH_SQUARES_HIGH, EPOCH_WATERMARK, EPOCH_MADE, EPOCH_TAKEN, EPOCH_COLUMNS = range(8)
SQUARES = 1 << 62
DELAY_MAX_US = (1 << 31) - 1  # longer delays count as this, 36 minutes, so that a square fits in

# -- what varies the cost of an operator's services, in the parameters (docs/event-core.md, 3.2) ----------------------------------
NOISE_WARM_UP = 0  # warm-up: what it adds to the cost at first, in units of 2^-16 ...
NOISE_WARM_UP_RECORDS = 1  # ... and after how many records it is over, 0: it does not depend on them ...
NOISE_WARM_UP_NS = 2  # ... or after what time, ns, 0: it does not depend on it
NOISE_TABLE = 3  # 1: a table of factors follows
NOISE_DRIFT_STEP_NS = 4  # of drift: how long a factor holds, ns; 0: there is none ...
NOISE_DRIFT = 5  # ... and how far behind NOISE_WARM_UP its factors begin
NOISE_STATE_BYTES = 6  # the state with which everything costs twice as much, 0: it does not depend on them
NOISE_FACTORS = 7  # those below the median by rising share below them, then those above it by rising share above them
STATE_MAX = 99 << 16  # state adds at most so many times the cost, in units of 2^-16
NOISE_OCTAVES = 32
NOISE_BINS = 64  # per octave

NOTE_WAY = 1  # what is noted of messages on their way, added up: its parts, for the trace; ...
NOTE_LEFT = 2  # ... so many times the column that says when they left their host

UNIT = 1 << 20  # work of one ns at speed 1
WHOLE = 1 << 16  # O_ATTAINABLE where no time is stolen
REBASE = 1 << 60

CONTROL_BYTES = 16

# -- payload of a control message: who sent it, what goes with it (number of a parcel, -1 for none), how many words it has, the words ---
X_SENDER, X_PARCEL, X_COUNT, X_WORDS = 0, 1, 2, 3
CONTROL_WORDS = 8  # at most
X_COLUMNS = X_WORDS + CONTROL_WORDS
URGENT = 1  # M_TRIGGER of a control message that comes before all else that waits on its processor

# -- box: what an operator's kernel says of its service --------------------------------------------------------------------------
BOX_FIRST, BOX_LAST = 0, 1  # its outputs, a list of messages: first and last, -1 for none
BOX_REUSED = 2  # 1 if the message served is one of them
BOX_WORK = 3  # counted work ...
BOX_READ = 4  # ... and stored records that a firing has read
BOX_SPARE_COUNT = 5  # how many messages are kept for the hooks of a protocol, ...
BOX_COUNTED = 6  # outputs that are only counted, in another one
BOX_STATE_PS = 7  # work of its local store
BOX_SPARE = 8  # ... from here on

# -- the service trace: a row for each service that began while tracing (`engine.core.kernels.service_trace`), its times in words ... ---
T_START = 0  # of a second row: -1 - its number
T_END = 1  # FAR while it is unknown
T_TRIGGER = 2
TRACE_COLUMNS = 8  # one cache line
TRACE_LINES = 3  # most rows of a service
# ... and the rest in half words of the same line
F_ITEM = 6  # how its item came, by ITEM_*, ...
F_PARENT = 7  # ... how many rows back the service that sent it stands, 0: there is none or it is not traced ...
F_PREVIOUS = 8  # ... and the instance's service before this one; ...
SECOND = 8  # ... spans of time, ns, from the next column on; where there is a second row, that of column f is its word f - SECOND in full
F_WAITED = 9  # ready to start
F_LATENCY = 10  # departed to ready; this and the next two are 0 where it came by no channel
F_TRANSMISSION = 11  # begun to departed
F_NETWORK_WAIT = 12  # sent to begun
F_IDLE = 13  # since when the instance had had nothing in hand, to start
F_SERVICE = 14
F_ORIGIN = 15  # start of the service that took in what the measured anchor counts from, to start; 0: it counts from that which sent it
HALVES = 16
ITEM_KIND = 7  # bits of the item's kind; ...
ITEM_CLASS = 3  # ... from this bit on two for its class ...
ITEM_BY_CHANNEL = 1 << 5  # ... set if the number is that of the channel by which it came, and not of the instance ...
ITEM_WIDE = 1 << 6  # ... set if there is a second row ...
ITEM_ALIGNED = 1 << 7  # ... set if the last row says how long it waited for barriers ...
ITEM_NUMBER = 8  # ... the number, from this bit on
ITEM_NUMBERS = 1 << 24
T_RELEASED = 1  # of that row (its start is -1): from the release to the start of the service, ns, ...
T_ALIGNED = 2  # ... and how long it had waited for the release

# -- parts of a record's latency, as `engine.simulation.attribution.PARTS` -----------------------------------------------------------------
(
    PART_EVENT_DELAY,
    PART_DRIVER_QUEUE,
    PART_QUEUEING,
    PART_SCHEDULING,
    PART_ALIGNMENT,
    PART_SERVICE,
    PART_STOLEN,
    PART_WINDOW_WAIT,
    PART_BLOCKED,
    PART_NETWORK_WAIT,
    PART_TRANSMISSION,
    PART_NETWORK_LATENCY,
) = range(12)

# -- of a message while tracing: when it was sent, begun and departed; row of the service that sent it; start of the one it counts from --
N_SENT, N_BEGUN, N_DEPARTED, N_PARENT, N_ORIGIN, N_COLUMNS = range(6)
# -- of an instance while tracing: row of its last service, -1 if it has none; when its last emission ended -----------------------
B_ROW, B_IDLE, B_COLUMNS = range(3)

# -- a kept output: these, then its payload
OUTPUT_SINK, OUTPUT_INSTANCE, OUTPUT_END, OUTPUT_EVENT, OUTPUT_TRIGGER, OUTPUT_LATENCY, OUTPUT_HEADER = range(7)

# -- a change of keyed state, for local stores: when, whose, how, of which key and window, of how many stored records or of which side,
# and from which record: its channel, -1 for none, and its number there ------------------------------------------------------------------
CHANGE_TIME, CHANGE_INSTANCE, CHANGE_KIND, CHANGE_KEY, CHANGE_PANE, CHANGE_COUNT, CHANGE_CHANNEL, CHANGE_SEQUENCE, CHANGE_COLUMNS = range(9)
# what is stored of a key is read, then one value put, nothing changed, or all deleted; a record is added; of a side one is read, or put
CHANGE_FOLD, CHANGE_READ, CHANGE_CLEAR, CHANGE_ADD, CHANGE_GET, CHANGE_PUT = range(6)

# -- heaps (agenda: by time, tags: by work; the least key first, then the least who), turns, rings of arrivals, and other small tables ----
DUE_KEY, DUE_WHO = 0, 1
TURN_RANK, TURN_READY, TURN_WHO = 0, 1, 2  # who: class << 40 | instance
RING_TIME, RING_TIE, RING_MESSAGE = 0, 1, 2  # tie: sender << 40 | fifo
SUM_COUNT, SUM_TOTAL_NS, SUM_MAX_NS = 0, 1, 2  # of latencies
SINK_COUNTED, SINK_LATENCIES = 0, 1  # parameters of a sink: column with a number of records; first row of by_instance; -1: none
CURVE_BYTES, CURVE_FACTOR = 0, 1  # a point of a host's curve: bytes used, factor of costs in units of 2^-16

# -- latency buckets: exact below 128 ns, then 64 per octave: relative error below 1 / 128 -----------------------------------
BUCKETS = 128 + 56 * 64
