/** How an operator of the topology is marked in a frame. */
import type { OperatorSample } from "../../api/types";
import { BLOCKED_FROM } from "./events";

const HOT_FROM = 0.8;
/** An operator is skewed if one instance is busier than the mean by this share of the time. */
const SKEWED_FROM = 0.2;

export interface Marks {
  /** Blocked most of the time, or an instance almost always busy. */
  tone: "blocked" | "hot" | "";
  skewed: boolean;
}

export function marksOf(sample: Pick<OperatorSample, "busy" | "blocked" | "most"> | null | undefined): Marks {
  const [busy, blocked, most] = [sample?.busy ?? 0, sample?.blocked ?? 0, sample?.most?.busy ?? 0];
  return {
    tone: blocked >= BLOCKED_FROM ? "blocked" : Math.max(busy, most) >= HOT_FROM ? "hot" : "",
    skewed: most - busy >= SKEWED_FROM,
  };
}
