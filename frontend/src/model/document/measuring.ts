/** A study of suggested placements, with what was predicted of them. */
import type { ExperimentDocument } from "../../api/document";
import type { Advice, Json } from "../../api/types";
import type { AdviceRow } from "./advice";

/** More placements are not measured at once. */
export const MEASURED_MAX = 100;

export interface MeasuringStudy {
  document: Json;
  predictions: { models: string; points: { [cost: string]: number[] }[] };
}

/** What latencies mean to the models: from intake and from the device, of the oldest contributing record. */
const MEASUREMENT = {
  latency: { from: "ingest", anchor: "oldest" },
  also: [{ name: "end_to_end", from: "event", anchor: "oldest", to: "sink" }],
};

/** asked: the experiment that the advice is about. Each placement is a point, named as in the table of candidates. */
export function studyOf(asked: ExperimentDocument, advice: Advice, rows: readonly AdviceRow[]): MeasuringStudy {
  const names = rows.map(({ rank, place, isPresent }) => (isPresent ? "present" : rank === null ? `${place} (filtered)` : String(rank)));
  const placements = rows.map(({ hosts }) => ({
    kind: "explicit",
    hosts: Object.fromEntries(Object.entries(hosts).map(([operator, host]) => [operator, [host]])),
  }));
  const experiment = { ...asked, measurement: { ...(asked.measurement as object | undefined), ...MEASUREMENT } };
  return {
    document: {
      format: 1,
      name: `${asked.name || "Untitled"}: suggested placements`,
      experiment,
      axes: [
        { name: "placement", fields: ["/placement"], values: { kind: "list", of: placements } },
        { name: "candidate", fields: ["/name"], values: { kind: "list", of: names } },
      ],
      design: { kind: "together" },
      seeds: [asked.workload.seed ?? 1],
    } as unknown as Json,
    predictions: { models: advice.models, points: rows.map(({ number }) => advice.candidates[number]?.costs ?? {}) },
  };
}
