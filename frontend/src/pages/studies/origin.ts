/** Where a new study begins: an experiment, a run, a template, another study, or a file. */
import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import { experimentWrites, studiesQuery, templatesQuery } from "../../api/queries";
import type { ExperimentRecord, Run, StudyDetail, Template } from "../../api/types";
import type { QueryClient } from "@tanstack/react-query";
import { freeOf } from "../../lib/names";
import type { Draft } from "../../model/study/draft";
import type { StudyDocument } from "../../model/study/study";

export const ORIGINS = ["experiment", "run", "template", "study"] as const;
type Kind = (typeof ORIGINS)[number];

export interface Origin {
  study: StudyDocument;
  /** The experiment to which the runs will belong; null: a new one. */
  experiment: string | null;
}

/** Which of them an address names. */
export function originIn(url: Record<Kind, string>): { kind: Kind; id: string } | null {
  const kind = ORIGINS.find((one) => url[one]);
  return kind ? { kind, id: url[kind] } : null;
}

export const originQuery = (client: QueryClient, origin: { kind: Kind; id: string } | null) =>
  queryOptions({
    queryKey: ["study-origin", origin?.kind, origin?.id],
    enabled: origin !== null,
    queryFn: () => (origin ? read(client, origin.kind, origin.id) : Promise.reject(new Error("no starting point"))),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

async function read(client: QueryClient, kind: Kind, id: string): Promise<Origin> {
  const studies = await client.fetchQuery({ ...studiesQuery(0), staleTime: 0 });
  const taken = studies.items.map(({ name }) => name);
  const begun = (experiment: unknown): StudyDocument => {
    const name = (experiment as { name?: unknown } | null)?.name;
    return {
      format: 1,
      name: typeof name === "string" && name ? freeOf(`Study of ${name}`, taken) : "",
      experiment: experiment as StudyDocument["experiment"],
      seeds: [1],
      axes: [],
    };
  };
  if (kind === "study") {
    const { document, experiment } = await get<StudyDetail>(`/api/studies/${id}`);
    return { study: { ...document, name: freeOf(document.name ?? "", taken) }, experiment };
  }
  if (kind === "run") {
    const run = await get<Run>(`/api/runs/${id}`);
    return { study: begun(run.document), experiment: run.experiment.id };
  }
  if (kind === "template") {
    const template = (await client.ensureQueryData(templatesQuery)).find((one: Template) => one.id === id);
    if (!template) throw new Error(`There is no template “${id}”.`);
    return { study: begun(template.document), experiment: null };
  }
  await experimentWrites.last;
  const record = await get<ExperimentRecord>(`/api/experiments/${id}`);
  return { study: begun(record.document), experiment: record.id };
}

const keyOf = (origin: { kind: string; id: string } | null) => `millrace.study.${origin ? `${origin.kind}.${origin.id}` : "file"}`;

/** What was chosen so far stays in this browser until the study starts. */
export function keepStudyDraft(origin: { kind: string; id: string } | null, draft: Draft | null): void {
  try {
    if (draft) localStorage.setItem(keyOf(origin), JSON.stringify(draft));
    else localStorage.removeItem(keyOf(origin));
  } catch {
    // A full store keeps no draft; the page still holds it.
  }
}

export function studyDraftOf(origin: { kind: string; id: string } | null): Draft | null {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(origin)) ?? "null") as Draft | null;
    return typeof kept === "object" && !Array.isArray(kept) ? kept : null;
  } catch {
    return null;
  }
}
