/** What learned models are worth, in words and numbers. */
import type { Corpus, Cost, LearnedModelsDetail } from "../../api/types";
import { percent, short } from "../../lib/format";

/** title: of a cost. isClass: it is told right or wrong; others are off by a factor. */
export const COSTS: readonly { id: Cost; title: string; isClass: boolean; unit: string }[] = [
  { id: "processing_latency", title: "Processing latency", isClass: false, unit: "ms" },
  { id: "end_to_end_latency", title: "End-to-end latency", isClass: false, unit: "ms" },
  { id: "throughput", title: "Throughput", isClass: false, unit: "records/s" },
  { id: "flows", title: "Keeps up", isClass: true, unit: "" },
  { id: "success", title: "Delivers", isClass: true, unit: "" },
];

const PREDICTORS: { [name: string]: string } = {
  costream: "Network",
  "flat authors": "Flat vector of the authors",
  "flat paper": "Flat vector of the paper",
  "flat strong": "Flat vector, our strongest",
  nearest: "Nearest traces",
  constant: "Constant",
};

export interface WorthRow {
  predictor: string;
  isNetwork: boolean;
  /** Of a cost: median and 95th percentile of the q-error, with the bounds of the median; of a class: the share that is told. */
  cells: string[];
}

export interface Worth {
  cost: (typeof COSTS)[number];
  tested: number;
  learnedFrom: number;
  rows: WorthRow[];
  points: [measured: number, predicted: number][];
}

const number = (value: unknown): string => (typeof value === "number" ? short(value) : "–");
const share = (value: unknown): string => (typeof value === "number" ? percent(value) : "–");

/** By cost, how far each predictor is off on the test. */
export function worthOf(detail: LearnedModelsDetail): Worth[] {
  return COSTS.flatMap((cost) => {
    const report = detail.report.find(({ metric }) => metric === cost.id);
    if (!report) return [];
    const rows = Object.entries(report.off).map(([name, off]): WorthRow => {
      const cells = cost.isClass
        ? [share(off.accuracy), share(off.precision), share(off.recall)]
        : [number(off.q50), `${number(off.low)} to ${number(off.high)}`, number(off.q95)];
      return { predictor: PREDICTORS[name] ?? name, isNetwork: name === "costream", cells };
    });
    const points = (report.points ?? []).flatMap(([measured, predicted]): [number, number][] =>
      measured === undefined || predicted === undefined ? [] : [[measured, predicted]],
    );
    return [{ cost, tested: report.traces.test ?? 0, learnedFrom: report.traces.training ?? 0, rows, points }];
  });
}

export type Shown = "validation" | "loss";

export interface Course {
  cost: (typeof COSTS)[number];
  members: { seed: number; isTrained: boolean; epochs: number[]; validation: number[]; loss: number[] }[];
}

/** The course of training by cost: loss, and validation in which lower is better. */
export function coursesOf(detail: LearnedModelsDetail): Course[] {
  return COSTS.flatMap((cost) => {
    const members = detail.training
      .filter(({ metric }) => metric === cost.id)
      .map(({ seed, is_trained: isTrained, epochs }) => ({
        seed,
        isTrained,
        epochs: epochs.map((epoch) => epoch.number),
        validation: epochs.map((epoch) => epoch.validation),
        loss: epochs.map((epoch) => epoch.loss),
      }))
      .sort((one, other) => one.seed - other.seed);
    return members.length ? [{ cost, members }] : [];
  });
}

/** "16 % fail, 33 % of the others fall behind", or how far it is. */
export function balanceText({ balance, done, traces }: Corpus): string {
  if (!balance) return `${done.toLocaleString("en-US")} of ${traces.toLocaleString("en-US")} traces measured`;
  const failed = (balance.traces - balance.succeeded) / balance.traces;
  const behind = balance.succeeded ? balance.backpressured / balance.succeeded : 0;
  return `${percent(failed)} fail, ${percent(behind)} of the others fall behind`;
}
