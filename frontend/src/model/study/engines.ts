/** Which engine? The drawn query under each of them, and what is compared (Karimov 2020, 3.6.3). */
import type { AxisValues, Json, Kind, StudyInterval, StudyResults } from "../../api/types";
import { loadAxis, type Field } from "./fields";
import { FOUND } from "./metrics";
import { axisTitle, loadOf, pointText, seedsOf, type Axis, type StudyDocument } from "./study";
import { rowsOf, type Row } from "./table";

export const ENGINE = "/policies/engine";
const SHARES = [0.9, 1];
const SEEDS = [1, 2, 3];
const PRECISION = 0.02;

/** What runs measure of that. */
export const COMPARED = ["latency_ms.mean", "latency_ms.min", "latency_ms.p99", "latency_ms.max", "throughput_out_per_s"];

/** The axis over engines; undefined: the study does not compare them. */
export const engineAxis = (study: StudyDocument): Axis | undefined =>
  (study.axes ?? []).find(({ fields, values }) => fields.length === 1 && fields[0] === ENGINE && Array.isArray(values.of));

type Compared = Pick<StudyDocument, "axes" | "search" | "seeds">;

/** What the study gains: each engine, and at each the highest load that it sustains, and runs at it and at nine tenths of it. */
export function comparing(study: StudyDocument, engines: readonly Json[], fields: readonly Field[]): Compared {
  const others = (study.axes ?? []).filter((axis) => axis !== engineAxis(study));
  return {
    axes: [...others, { name: "engine", fields: [ENGINE], values: { kind: "list", of: [...engines] } }],
    search: { ...(loadOf(study) ? study.search : { start: "bottom", load: loadAxis(fields) }), kind: "sustainable", shares: SHARES },
    seeds: seedsOf(study).length > 1 ? seedsOf(study) : SEEDS,
  };
}

interface Executable {
  /** As it was, or with the policies left to the engines. */
  experiment: Json;
  /** Each engine that can execute it, as a value of the axis. */
  values: Json[];
  /** What was changed, and which engines cannot execute it, and why: a sentence each. */
  said: string[];
}

type ErrorsOf = (document: Json) => Promise<string[]>;
type Document = { policies?: { [name: string]: Json }; prices?: Json; [field: string]: Json | undefined };

/** Windows under Spark are whole batches long: shorter intervals suit more of them. */
const BATCHES_S = [2, 1, 0.5];

/**
 * Finds out which engines can execute an experiment. Policies that an engine brings along itself stand in its way; if more engines can
 * without them, all are compared without. errorsOf: what is wrong with a document. Faults that it has without an engine count for none.
 */
export async function executable(experiment: Json, engines: readonly Kind[], errorsOf: ErrorsOf): Promise<Executable> {
  const asked = engines.filter(({ compared }) => compared);
  const { policies, prices, ...rest } = experiment as Document;
  const drawn = await executableAs(experiment as Document, asked, errorsOf);
  const left = [...Object.keys(policies ?? {}).filter((name) => name !== "engine"), ...(prices === undefined ? [] : ["prices"])];
  const bare = drawn.values.length < asked.length && left.length ? await executableAs(rest, asked, errorsOf) : drawn;
  if (bare.values.length > drawn.values.length) {
    const said = `Left to the engines: ${left.map((name) => name.replace(/_/g, " ")).join(", ")}.`;
    return { experiment: { ...rest, policies: {} } as Json, values: bare.values, said: [said, ...bare.said] };
  }
  // An axis varies what is there.
  const whole = policies ? experiment : ({ ...rest, ...(prices === undefined ? {} : { prices }), policies: {} } as Json);
  return { experiment: whole, ...drawn };
}

async function executableAs(document: Document, engines: readonly Kind[], errorsOf: ErrorsOf) {
  const under = (engine: Json) => errorsOf({ ...document, policies: { ...document.policies, engine } } as Json);
  const own = new Set(await under({ kind: "none" }));
  const found = await Promise.all(
    engines.map(async ({ kind, title }) => {
      const choices: Json[] = [{ kind }, ...(kind === "spark" ? BATCHES_S.map((batch_s) => ({ kind, batch_s })) : [])];
      let first: string | undefined;
      for (const value of choices) {
        const reason = (await under(value)).find((message) => !own.has(message));
        if (reason === undefined) return { value };
        first ??= reason;
      }
      return { said: `${title} is left out: ${first}` };
    }),
  );
  return { values: found.flatMap(({ value }) => (value === undefined ? [] : [value])), said: found.flatMap(({ said }) => said ?? []) };
}

export interface Cell {
  value: number;
  low: number | null;
  high: number | null;
}

export interface MatrixRow {
  title: string;
  means: string;
  /** Axes beside the engine; empty: there are none. */
  condition: string;
  unit: string;
  better: "higher" | "lower";
  /** For each engine; null: not measured, or not yet. */
  cells: (Cell | null)[];
  /** The engine that is better than all others by more than the seeds differ and the search can tell; null: none is. */
  best: number | null;
}

export interface Matrix {
  /** As the axis has them: one may be there twice, with other settings. */
  engines: Json[];
  rows: MatrixRow[];
}

interface Criterion {
  title: string;
  means: string;
  unit: string;
  better: "higher" | "lower";
  of: (rows: readonly Row[]) => Cell | null;
}

const cellOf = (interval: StudyInterval | undefined): Cell | null =>
  interval ? { value: interval.mean, low: interval.low, high: interval.high } : null;

const metric = (name: string, share: number | null) => (rows: readonly Row[]) =>
  cellOf(rows.find((row) => row.share === share)?.intervals[name]);

/** From the shortest latency to the 99th percentile, over the mean (Table 3.2). */
function spread(share: number | null) {
  return (rows: readonly Row[]): Cell | null => {
    const of = (name: string) => rows.find((row) => row.share === share)?.intervals[`latency_ms.${name}`]?.mean;
    const [shortest, mean, p99] = [of("min"), of("mean"), of("p99")];
    return shortest === undefined || p99 === undefined || !mean ? null : { value: (p99 - shortest) / mean, low: null, high: null };
  };
}

function criteriaOf(study: StudyDocument): Criterion[] {
  const load = loadOf(study);
  const shares = load ? [...((study.search?.shares as number[] | undefined) ?? [])].sort((a, b) => b - a) : [null];
  const found: Criterion = load
    ? {
        title: `Sustainable ${axisTitle(load)}`,
        means: "the highest load at which neither queues nor latencies grow; the median over seeds",
        unit: "",
        better: "higher",
        of: (rows) => cellOf(rows.find(({ intervals }) => intervals[FOUND])?.intervals[FOUND]),
      }
    : {
        title: "Throughput",
        means: "records that the sinks deliver each second",
        unit: "records/s",
        better: "higher",
        of: metric("throughput_out_per_s", null),
      };
  return [
    found,
    ...shares.flatMap((share): Criterion[] => {
      const at = share === null || share === 1 ? "" : ` at ${Math.round(100 * share)} %`;
      const where = share === null ? "" : share === 1 ? ", at the load found" : `, at ${Math.round(100 * share)} % of the load found`;
      return [
        { title: `Mean latency${at}`, means: `of all results${where}`, unit: "ms", better: "lower", of: metric("latency_ms.mean", share) },
        { title: `Longest latency${at}`, means: `of all results${where}`, unit: "ms", better: "lower", of: metric("latency_ms.max", share) },
        {
          title: `Spread of the latency${at}`,
          means: `from the shortest to the 99th percentile, over the mean${where}: how well it is bounded`,
          unit: "",
          better: "lower",
          of: spread(share),
        },
      ];
    }),
  ];
}

/** Every criterion for every engine, under each condition that other axes make; null: the study compares no engines. */
export function matrixOf(study: StudyDocument, results: StudyResults): Matrix | null {
  const axis = engineAxis(study);
  if (!axis) return null;
  const engines = axis.values.of as Json[];
  const known = engines.map((engine) => JSON.stringify(engine));
  const conditions = new Map<string, Row[][]>();
  for (const row of rowsOf(results)) {
    const others = Object.fromEntries(Object.entries(row.values).filter(([name]) => name !== axis.name)) as AxisValues;
    const condition = Object.keys(others).length ? pointText(others) : "";
    if (!conditions.has(condition)) conditions.set(condition, engines.map(() => []));
    conditions.get(condition)?.[known.indexOf(JSON.stringify(row.values[axis.name]))]?.push(row);
  }
  const precision = (study.search?.precision as number | undefined) ?? PRECISION;
  const criteria = criteriaOf(study);
  const rows = [...conditions].flatMap(([condition, each]) =>
    criteria.map(({ title, means, unit, better, of }) => {
      const cells = each.map(of);
      return { title, means, condition, unit, better, cells, best: bestOf(cells, better, precision) };
    }),
  );
  return { engines, rows: [...rows, ...keptOf(rows, criteria[0]?.title ?? "", precision)] };
}

/** How much of its throughput under the first condition an engine keeps under each other. */
function keptOf(rows: readonly MatrixRow[], title: string, precision: number): MatrixRow[] {
  const [first, ...others] = rows.filter((row) => row.title === title);
  if (!first) return [];
  return others.map(({ condition, cells }) => {
    const kept = cells.map((cell, at) => {
      const before = first.cells[at];
      return cell && before?.value ? { value: (100 * cell.value) / before.value, low: null, high: null } : null;
    });
    const means = `of the throughput with ${first.condition}`;
    return { title: "Throughput kept", means, condition, unit: "%", better: "higher", cells: kept, best: bestOf(kept, "higher", precision) };
  });
}

function bestOf(cells: readonly (Cell | null)[], better: "higher" | "lower", precision: number): number | null {
  const sign = better === "higher" ? 1 : -1;
  const ends = cells.map((cell) => {
    if (!cell) return null;
    const slack = (Math.abs(cell.value) * precision) / 2;
    const [least, most] = [Math.min(cell.low ?? cell.value, cell.value - slack), Math.max(cell.high ?? cell.value, cell.value + slack)];
    return sign > 0 ? { worst: least, best: most } : { worst: -most, best: -least };
  });
  const known = ends.flatMap((end, at) => (end ? [{ ...end, at }] : []));
  if (known.length < 2 || known.length < cells.length) return null;
  const top = known.reduce((a, b) => (b.worst > a.worst ? b : a));
  return known.every((one) => one === top || one.best < top.worst) ? top.at : null;
}
