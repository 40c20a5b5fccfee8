/** The parts of which a record's latency is made (docs/event-core.md, section 11): their names, order, colours and patterns. */
import type { Attribution } from "../../api/types";

export type Pattern = "plain" | "dots" | "hatch" | "rows" | "cross";

export interface Part {
  id: string;
  label: string;
  /** A second cue beside the colour. */
  pattern: Pattern;
  token: string;
  means: string;
}

const part = (id: string, token: string, pattern: Pattern, means: string, label = id.replace("_", " ")): Part => ({
  id,
  label,
  pattern,
  token,
  means,
});

// Parts of a single record's way that the frames sum up as well.
const ALIGNMENT = part("alignment", "--s2", "rows", "its channel barred, until the barriers of all inputs were there");
const SERVICE = part("service", "--s3", "plain", "being worked on");
const STOLEN = part("stolen", "--s4", "hatch", "in service, while the cores were with others or stood still");
const BLOCKED = part("blocked", "--blocked", "hatch", "made, and could not be sent for lack of credits");

/** In the order in which a record meets them. */
export const PATH_PARTS: Part[] = [
  part("event_delay", "--s6", "rows", "from its event time until it was appended to the log"),
  part("driver_queue", "--s6", "dots", "in the log, until the source took it"),
  part("network_wait", "--s5", "hatch", "sent, until its transmission began"),
  part("transmission", "--s5", "plain", "on its way through the link"),
  part("network_latency", "--s5", "dots", "from the link to the host where it arrived"),
  part("queueing", "--s1", "plain", "arrived, while the instance was at others"),
  part("scheduling", "--s4", "plain", "arrived, and only a processor lacked"),
  ALIGNMENT,
  SERVICE,
  STOLEN,
  part("window_wait", "--p50", "cross", "kept in state, until its window closed or its match came"),
  BLOCKED,
];

/** What the frames have sums of. `per`: the count that a mean divides by. */
export const SUM_PARTS: (Part & { field: Exclude<keyof Attribution, "records" | "sent">; per: "records" | "sent" })[] = [
  { ...part("driver_queue", "--s6", "dots", "in the logs, until a source took them"), field: "driver_queue_ns", per: "records" },
  { ...part("channel_wait", "--s1", "plain", "arrived, until their service began, but for the alignment"), field: "channel_wait_ns", per: "records" },
  { ...ALIGNMENT, field: "alignment_ns", per: "records" },
  { ...SERVICE, field: "service_ns", per: "records" },
  { ...STOLEN, field: "stolen_ns", per: "records" },
  { ...BLOCKED, field: "blocked_ns", per: "sent" },
  { ...part("network", "--s5", "plain", "from sent to arrived"), field: "network_ns", per: "sent" },
];

export const partOf = (id: string): Part => PATH_PARTS.find((one) => one.id === id) ?? part(id, "--s6", "plain", "");
