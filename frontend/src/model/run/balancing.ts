/** How worksets of similarity joins were given to other workers, window by window. */
import type { ExperimentDocument } from "../../api/document";
import type { BalancingAction, Tagged, WorksetHandOver } from "../../api/types";

export interface WorkerLoad {
  worker: number;
  before: number;
  after: number;
  given: number;
  taken: number;
}

export const isBalanced = (document: Pick<ExperimentDocument, "policies">): boolean =>
  ((document.policies?.balancing as Tagged | undefined)?.kind ?? "none") !== "none";

/** What loads are counted in. */
export const loadUnit = (document: Pick<ExperimentDocument, "policies">): string =>
  (document.policies?.balancing as { load?: string } | undefined)?.load === "cpu_time" ? "CPU time, µs" : "Comparisons";

/** The last action of a join up to a moment; null: none yet. */
export function actionAt(actions: readonly BalancingAction[], join: string, moment_s: number | null): BalancingAction | null {
  const until_s = moment_s ?? Infinity;
  return actions.filter((action) => action.join === join && action.t_s <= until_s).at(-1) ?? null;
}

/** The hand-over of an action's records, if it has ended at that moment. */
export function handOverOf(
  handOvers: readonly WorksetHandOver[],
  { hand_over }: BalancingAction,
  moment_s: number | null,
): WorksetHandOver | null {
  return handOvers.find(({ number, ended_s }) => number === hand_over && ended_s <= (moment_s ?? Infinity)) ?? null;
}

export interface Imbalance {
  t_s: number;
  /** Sum of the deviations of the workers' loads from their mean, over the mean: as measured, and with the moves. */
  before: number;
  after: number;
}

/** The imbalance at each plan of a join. */
export function imbalancesOf(actions: readonly BalancingAction[], join: string): Imbalance[] {
  return actions
    .filter((action) => action.join === join)
    .map(({ t_s, imbalance, imbalance_planned, imbalance_share }) => ({
      t_s,
      before: imbalance_share,
      after: imbalance > 0 ? (imbalance_share * imbalance_planned) / imbalance : 0,
    }));
}

/** Loads over their mean by worker, before and with the moves, and how many worksets each gave and took. */
export function loadsOf({ loads, planned, moves }: BalancingAction): WorkerLoad[] {
  const mean = loads.reduce((sum, load) => sum + load, 0) / Math.max(loads.length, 1);
  return loads.map((load, worker) => ({
    worker,
    before: mean > 0 ? load / mean : 0,
    after: mean > 0 ? (planned[worker] ?? 0) / mean : 0,
    given: moves.filter((move) => move[2] === worker).length,
    taken: moves.filter((move) => move[3] === worker).length,
  }));
}
