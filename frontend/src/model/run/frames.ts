/**
 * The frames of one run, in order and without a hole, kept as columns of numbers: an hour at four frames a second takes some
 * megabytes so, and a chart reads its values without looking at frames. The log grows in place; `count` says how far it has come.
 */
import type { BalancingAction, Death, Frame, Outage, WorksetHandOver } from "../../api/types";
import { addOutages } from "./outages";
import { StandbyHistory } from "./standbyHistory";
import { SpaceHistory } from "./spaces";
import { CheckpointHistory } from "./checkpoints";
import { ScalingHistory } from "./scaling";
import { addJobs, type Job } from "./jobs";
import { addStops, type Stop } from "./stops";

/** The values of one field, by frame number; NaN where a frame had none. */
class Numbers {
  values = new Float64Array(0);
  truth = false;

  set(n: number, value: number): void {
    if (n >= this.values.length) {
      const grown = new Float64Array(Math.max(256, Math.ceil(n * 1.5) + 1)).fill(NaN);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[n] = value;
  }

  at(n: number): number | null {
    const value = this.values[n];
    return value === undefined || Number.isNaN(value) ? null : value;
  }
}

/** Columns in the shape of a frame. */
class Branch {
  readonly fields = new Map<string, Branch | Numbers>();
  /** Frames may have null in the place of all this. */
  optional = false;
}

const EMPTY = new Float64Array(0);

export class FrameLog {
  count = 0;
  /** Number of messages that did not fit: the run was asked for again from `count`. */
  gaps = 0;
  /** What the run's checkpointing protocol did; it grows in place. */
  readonly checkpoints = new CheckpointHistory();
  /** How its parallelism changed; it grows in place. */
  readonly scaling = new ScalingHistory();
  /** When the engine held all receivers, in order; it grows in place. Null: it has no such switch. */
  stops: Stop[] | null = null;
  /** The engine's jobs, by batch, the number of stages of each, and to how much it limits its sources now. Null: it has none. */
  jobs: { all: Job[]; stages: number; limit_per_s: number | null } | null = null;
  /** What the balancer of worksets planned, in order; it grows in place. */
  readonly balancing: BalancingAction[] = [];
  readonly handOvers: WorksetHandOver[] = [];
  /** Losses of hosts with local stores, in order; it grows in place. */
  readonly outages: Outage[] = [];
  /** Operators with standbys, and takeovers; it grows in place. */
  readonly standbys = new StandbyHistory();
  /** Worksets of similarity joins; it grows in place. */
  readonly spaces = new SpaceHistory();
  private readonly root = new Branch();
  private readonly deathsOf = new Map<number, Death[]>();
  private last: Frame | undefined;

  /**
   * Adds frames that follow on. Frames already there are skipped (a reconnect may repeat them).
   * Returns whether they do follow on; from the first one that is missing, the rest is left out.
   */
  add(batch: Frame[]): boolean {
    for (const frame of batch) {
      if (frame.n < this.count) continue;
      if (frame.n > this.count) {
        this.gaps += 1;
        return false;
      }
      write(this.root, frame.n, frame);
      if (frame.deaths?.length) this.deathsOf.set(frame.n, frame.deaths);
      if (frame.checkpoints) this.checkpoints.add(frame.checkpoints);
      if (frame.scaling) this.scaling.add(frame.scaling, frame.t_s, frame.offered_per_s);
      if (frame.engine?.jobs) {
        this.jobs ??= { all: [], stages: frame.engine.stages ?? 1, limit_per_s: null };
        this.jobs.limit_per_s = frame.engine.limit_per_s ?? null;
        addJobs(this.jobs.all, frame.engine.jobs);
      }
      if (frame.balancing) this.balancing.push(...frame.balancing.actions);
      this.handOvers.push(...(frame.balancing?.hand_overs ?? []));
      addOutages(this.outages, frame.state?.outages ?? frame.output_logs?.outages ?? []);
      if (frame.standbys) this.standbys.add(frame.standbys);
      if (frame.spaces) this.spaces.add(frame.spaces, frame.t_s);
      if (frame.engine?.stopped_s) addStops((this.stops ??= []), frame.engine.stopped_s);
      this.count += 1;
    }
    return true;
  }

  /** Frame n as it came, without lists (what they tell is in the histories) and words; undefined when it is not there. */
  frame(n: number): Frame | undefined {
    if (n < 0 || n >= this.count) return undefined;
    if (this.last?.n !== n) this.last = { ...(read(this.root, n) as unknown as Frame), deaths: this.deathsOf.get(n) ?? [] };
    return this.last;
  }

  /** A field of all frames, NaN where one has none; longer than `count`, or empty where there is no such field. */
  column(...path: string[]): Float64Array {
    let here: Branch | Numbers | undefined = this.root;
    for (const name of path) here = here instanceof Branch ? here.fields.get(name) : undefined;
    return here instanceof Numbers ? here.values : EMPTY;
  }

  /** Number of the last frame up to n that has a value of the field, -1 if none has. */
  lastWith(n: number, ...path: string[]): number {
    const values = this.column(...path);
    let at = Math.min(n, this.count - 1, values.length - 1);
    while (at >= 0 && Number.isNaN(values[at])) at -= 1;
    return at;
  }

  /** Names below a place, such as those of the operators. */
  names(...path: string[]): string[] {
    let here: Branch | Numbers | undefined = this.root;
    for (const name of path) here = here instanceof Branch ? here.fields.get(name) : undefined;
    return here instanceof Branch ? [...here.fields.keys()] : [];
  }

  timeOf(n: number): number {
    return this.column("t_s")[n] ?? 0;
  }

  /** Virtual seconds reached. */
  get head_s(): number {
    return this.count ? this.timeOf(this.count - 1) : 0;
  }

  /** Number of the frame that covers a moment: the first that ends at or after it, the last one for later moments; -1 without frames. */
  numberAt(t_s: number): number {
    const times = this.column("t_s");
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] as number) >= t_s - 1e-9) high = middle;
      else low = middle + 1;
    }
    return Math.min(low, this.count - 1);
  }

  /** Hosts that died, in order. */
  deaths(): Death[] {
    return [...this.deathsOf.values()].flat();
  }
}

/** A log with these frames. */
export function logOf(frames: Frame[]): FrameLog {
  const log = new FrameLog();
  log.add(frames);
  return log;
}

function write(branch: Branch, n: number, value: object): void {
  for (const [name, part] of Object.entries(value) as [string, unknown][]) {
    if (Array.isArray(part) || typeof part === "string") continue;
    let field = branch.fields.get(name);
    if (typeof part === "object" && part !== null) {
      if (!(field instanceof Branch)) {
        const made = new Branch();
        made.optional = field !== undefined;
        branch.fields.set(name, made);
        field = made;
      }
      write(field, n, part);
    } else if (field instanceof Branch) field.optional = true;
    else {
      if (!field) branch.fields.set(name, (field = new Numbers()));
      if (typeof part === "boolean") field.truth = true;
      field.set(n, part === null || part === undefined ? NaN : Number(part));
    }
  }
}

type Fields = { [name: string]: Fields | number | boolean | null };

function read(branch: Branch, n: number): Fields | null {
  const fields: Fields = {};
  let some = false;
  for (const [name, field] of branch.fields) {
    const value = field instanceof Branch ? read(field, n) : field.truth ? truth(field.at(n)) : field.at(n);
    some ||= value !== null;
    fields[name] = value;
  }
  return branch.optional && !some ? null : fields;
}

const truth = (value: number | null) => (value === null ? null : value !== 0);
