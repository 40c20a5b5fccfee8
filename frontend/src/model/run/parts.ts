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
const ALIGNMENT = part("alignment", "--s2", "rows", "channel blocked until the barriers of all inputs had arrived");
const SERVICE = part("service", "--s3", "plain", "being worked on");
const STOLEN = part("stolen", "--s4", "hatch", "in service, while the cores served others or were stalled");
const BLOCKED = part("blocked", "--blocked", "hatch", "produced, waiting for credits to be sent");

/** In the order in which a record meets them. */
export const PATH_PARTS: Part[] = [
  part("event_delay", "--s6", "rows", "from its event time until it was appended to the log"),
  part("driver_queue", "--s6", "dots", "in the log, until the source read it"),
  part("network_wait", "--s5", "hatch", "sent, until its transmission began"),
  part("transmission", "--s5", "plain", "being transmitted on the link"),
  part("network_latency", "--s5", "dots", "from the link to the host where it arrived"),
  part("queueing", "--s1", "plain", "arrived, while the instance processed other records"),
  part("scheduling", "--s4", "plain", "arrived, waiting only for a core"),
  ALIGNMENT,
  SERVICE,
  STOLEN,
  part("window_wait", "--p50", "cross", "in state, until its window closed or its match arrived"),
  BLOCKED,
];

/** What the frames have sums of. `per`: the count that a mean divides by. */
export const SUM_PARTS: (Part & { field: Exclude<keyof Attribution, "records" | "sent">; per: "records" | "sent" })[] = [
  { ...part("driver_queue", "--s6", "dots", "in the logs, until a source read them"), field: "driver_queue_ns", per: "records" },
  { ...part("channel_wait", "--s1", "plain", "arrived, until service began, without the alignment"), field: "channel_wait_ns", per: "records" },
  { ...ALIGNMENT, field: "alignment_ns", per: "records" },
  { ...SERVICE, field: "service_ns", per: "records" },
  { ...STOLEN, field: "stolen_ns", per: "records" },
  { ...BLOCKED, field: "blocked_ns", per: "sent" },
  { ...part("network", "--s5", "plain", "from send to arrival"), field: "network_ns", per: "sent" },
];

export const partOf = (id: string): Part => PATH_PARTS.find((one) => one.id === id) ?? part(id, "--s6", "plain", "");
