import type { Frame, Run } from "../../api/types";

/** One of the runs: how it is drawn depends on its place. */
export interface Compared {
  run: Run;
  frames: Frame[];
  /** Its moment that counts as 0, in s. */
  zero_s: number;
}
