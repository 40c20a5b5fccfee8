/** Spaces and worksets of similarity joins: where they lie, who owns them, what they compare. */
import type { ExperimentDocument } from "../../api/document";
import type { BalancingAction, SpacesNews, StoredRecord } from "../../api/types";

export interface Workset {
  space: number;
  number: number;
  /** Of whom it is at that moment. */
  worker: number;
  x: number;
  y: number;
  compared: number;
  records: number;
  /** Into how many parts it is split, on workers from its own on. */
  parts?: number;
}

export interface OfWorker {
  worker: number;
  worksets: number;
  compared: number;
  /** Of all comparisons of the window so far. */
  share: number;
}

export interface SpacePicture {
  centroids: number[][];
  /** Coordinates of a vector, of which the picture shows two at most. */
  dimensions: number;
  worksets: Workset[];
  workers: OfWorker[];
  compared: number;
  /** Some of the records that the join stores, or stored when they were told last: of very many none are. */
  stored: StoredRecord[];
  stored_at_s: number;
}

interface Opened {
  t_s: number;
  space: number;
  number: number;
  worker: number;
  x: number;
  y: number;
}

interface OfJoin {
  centroids: number[][];
  dimensions: number;
  opened: Opened[];
  dropped: { t_s: number; space: number; number: number }[];
  /** Space, number, comparisons and records of each workset, one after the other. */
  loads: { t_s: number; words: Float64Array }[];
  stored: { t_s: number; records: StoredRecord[] }[];
}

/** What frames told of similarity joins; it grows in place. */
export class SpaceHistory {
  readonly joins = new Map<string, OfJoin>();

  add(news: Record<string, SpacesNews>, t_s: number) {
    for (const [name, { centroids, dimensions, worksets, dropped, loads, stored }] of Object.entries(news)) {
      const join = this.joins.get(name) ?? { centroids: [], dimensions: 0, opened: [], dropped: [], loads: [], stored: [] };
      this.joins.set(name, join);
      if (centroids) join.centroids = centroids;
      if (dimensions) join.dimensions = dimensions;
      for (const [space = 0, number = 0, worker = 0, x = 0, y = 0] of worksets) join.opened.push({ t_s, space, number, worker, x, y });
      for (const [space = 0, number = 0] of dropped ?? []) join.dropped.push({ t_s, space, number });
      if (loads) join.loads.push({ t_s, words: Float64Array.from(loads.flat()) });
      if (stored) join.stored.push({ t_s, records: stored });
    }
  }
}

/** Names of the joins whose worksets frames tell of: texts have no coordinates. */
export const similarityJoins = ({ query }: Pick<ExperimentDocument, "query">): string[] =>
  query.operators
    .filter(({ kind, params }) => ["similarity_join", "self_similarity_join"].includes(kind) && distanceOf(params) !== "edit")
    .map(({ id }) => id);

const distanceOf = (params: unknown): string => (params as { distance?: string } | undefined)?.distance ?? "angular";

/** The coordinates of a join's vectors, of its left ones if there are two streams. */
function coordinatesOf({ query }: Pick<ExperimentDocument, "query">, join: string): string[] {
  const params = query.operators.find(({ id }) => id === join)?.params as Record<string, string[] | undefined> | undefined;
  return params?.coordinates ?? params?.left_coordinates ?? [];
}

/** Whether vectors are directions in the plane, which a circle shows whole. */
export function isCircle(document: Pick<ExperimentDocument, "query">, join: string): boolean {
  return distanceOf(document.query.operators.find(({ id }) => id === join)?.params) === "angular" && coordinatesOf(document, join).length === 2;
}

/** Whether a join finds pairs within one stream. */
export const isSelfJoin = ({ query }: Pick<ExperimentDocument, "query">, join: string): boolean =>
  query.operators.find(({ id }) => id === join)?.kind === "self_similarity_join";

/** The largest distance of two vectors that match. */
export const thresholdOf = ({ query }: Pick<ExperimentDocument, "query">, join: string): number =>
  Number((query.operators.find(({ id }) => id === join)?.params as { threshold?: number } | undefined)?.threshold ?? 0);

/** The sink that measures each worker of a join: as parallel, fed forward, with latencies by instance. Null: there is none. */
export function sinkOfWorkers({ query }: Pick<ExperimentDocument, "query">, join: string): string | null {
  const forward = (edge: (typeof query.edges)[number]) => (edge.partitioning?.kind ?? "forward") === "forward";
  const fed = query.edges.filter((edge) => edge.source === join && forward(edge)).map(({ target }) => target);
  const measures = (params: unknown) => (params as { by_instance?: boolean } | undefined)?.by_instance === true;
  return query.operators.find(({ id, kind, params }) => kind === "sink" && fed.includes(id) && measures(params))?.id ?? null;
}

export interface Stage {
  name: string;
  records: number;
  /** Distances to centroids; at the join, comparisons of two records. */
  distances: number;
  /** Records and copies sent on, or pairs found. */
  sent: number;
}

type Summary = { [field: string]: unknown } | null | undefined;

const totalsOf = (summary: Summary) => (summary?.operators ?? {}) as { [id: string]: { in?: number; out?: number; read?: number } };

/** Operators that send to one, each once. */
const before = ({ query }: Pick<ExperimentDocument, "query">, id: string) => [
  ...new Set(query.edges.filter(({ target }) => target === id).map(({ source }) => source)),
];

/** What the stages of a join have counted in a whole run: spaces, worksets, join. Empty as long as there is no summary. */
export function stagesOf(document: Pick<ExperimentDocument, "query">, summary: Summary, join: string): Stage[] {
  const totals = totalsOf(summary);
  const worksets = before(document, join);
  const stages: [string, string[]][] = [
    ["Spaces", worksets.flatMap((id) => before(document, id))],
    ["Worksets", worksets],
    ["Join", [join]],
  ];
  if (!totals[join]) return [];
  const sum = (ids: string[], field: "in" | "out" | "read") => ids.reduce((total, id) => total + (totals[id]?.[field] ?? 0), 0);
  return stages.map(([name, ids]) => ({ name, records: sum(ids, "in"), distances: sum(ids, "read"), sent: sum(ids, "out") }));
}

/**
 * The share of all pairs of a window that match, if records come evenly; null as long as a run has no summary. A pair of several sliding
 * windows counts in each.
 */
export function selectivityOf(
  { query, workload: { horizon_s = 0 } }: Pick<ExperimentDocument, "query" | "workload">,
  summary: Summary,
  join: string,
): number | null {
  const totals = totalsOf(summary);
  const partitioners = before({ query }, join).flatMap((id) => before({ query }, id));
  const records = partitioners.map((partitioner) => totals[partitioner]?.in ?? 0);
  const pairs = totals[join]?.out;
  const [left = 0, right = left - 1] = records;
  if (pairs === undefined || horizon_s <= 0 || left <= 0 || right <= 0) return null;
  const { window } = (query.operators.find(({ id }) => id === join)?.params ?? {}) as { window?: { size_s?: number; slide_s?: number } };
  const size_s = Math.min(window?.size_s ?? Infinity, horizon_s);
  const windows = horizon_s / (window?.slide_s ?? size_s);
  const share = size_s / horizon_s;
  return pairs / (((left * right) / (records.length > 1 ? 1 : 2)) * share * share * windows);
}

const keyOf = (space: number, number: number) => `${space}.${number}`;

/** A join at a moment; null: nothing is known of it yet. */
export function pictureAt(
  history: SpaceHistory,
  actions: readonly BalancingAction[],
  join: string,
  moment_s: number | null,
): SpacePicture | null {
  const of = history.joins.get(join);
  const until_s = moment_s ?? Infinity;
  if (!of) return null;
  const found = new Map<string, Workset>();
  for (const { t_s, ...workset } of of.opened) {
    if (t_s <= until_s) found.set(keyOf(workset.space, workset.number), { ...workset, compared: 0, records: 0 });
  }
  for (const action of actions) {
    if (action.join !== join || action.from_s > until_s) continue;
    for (const [space, number, , to] of action.moves) {
      const moved = found.get(keyOf(space, number));
      if (moved) moved.worker = to;
    }
    for (const [space, number, worker, parts] of action.splits ?? []) {
      const split = found.get(keyOf(space, number));
      if (split) Object.assign(split, { worker, parts });
    }
  }
  // when all windows have ended, those of the last one
  const last = of.loads.filter(({ t_s, words }) => t_s <= until_s && words.length > 0).at(-1)?.words ?? new Float64Array();
  for (let at = 0; at < last.length; at += 4) {
    const workset = found.get(keyOf(last[at] ?? 0, last[at + 1] ?? 0));
    if (workset) Object.assign(workset, { compared: last[at + 2], records: last[at + 3] });
  }
  const stored = of.stored.filter(({ t_s, records }) => t_s <= until_s && records.length > 0).at(-1);
  for (const { t_s, space, number } of of.dropped) if (t_s <= until_s) found.delete(keyOf(space, number));
  const worksets = [...found.values()];
  const compared = worksets.reduce((sum, workset) => sum + workset.compared, 0);
  const count = Math.max(of.centroids.length, ...worksets.map(({ worker }) => worker + 1));
  const workers = Array.from({ length: count }, (_, worker) => {
    const own = worksets.filter((workset) => (worker - workset.worker + count) % count < (workset.parts ?? 1));
    const load = own.reduce((sum, workset) => sum + workset.compared / (workset.parts ?? 1), 0);
    return { worker, worksets: own.length, compared: load, share: compared > 0 ? load / compared : 0 };
  });
  const { centroids, dimensions } = of;
  return { centroids, dimensions, worksets, workers, compared, stored: stored?.records ?? [], stored_at_s: stored?.t_s ?? 0 };
}

/** The direction of a vector, from -1 to 1 in half turns. */
export const turnOf = (x: number, y: number): number => Math.atan2(y, x) / Math.PI;

/** Where on the circle each space lies: from one direction to a larger one, in half turns. */
export function arcsOf(centroids: readonly number[][]): { space: number; from: number; to: number }[] {
  const sorted = centroids.map(([x = 0, y = 0], space) => ({ space, turn: turnOf(x, y) })).sort((a, b) => a.turn - b.turn);
  return sorted.map(({ space, turn }, n) => {
    const before = (sorted.at(n - 1)?.turn ?? turn) - (n === 0 ? 2 : 0);
    const after = (sorted[(n + 1) % sorted.length]?.turn ?? turn) + (n === sorted.length - 1 ? 2 : 0);
    return { space, from: (before + turn) / 2, to: (turn + after) / 2 };
  });
}
