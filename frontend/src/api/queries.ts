/** The server's state as TanStack queries; keys in one place, so that writers can invalidate readers. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ExperimentDocument } from "../model/document";
import { get, post } from "./client";
import type {
  Dataset,
  ExperimentRecord,
  ExperimentRow,
  Frame,
  JsonSchema,
  Question,
  RatePreview,
  Registry,
  Run,
  Tag,
  Template,
  Waterfall,
} from "./types";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: () => get<{ name: string; lab: string }>("/api/me"),
  staleTime: Infinity,
});
export const registryQuery = queryOptions({ queryKey: ["registry"], queryFn: () => get<Registry>("/api/registry"), staleTime: Infinity });
export const schemaQuery = queryOptions({ queryKey: ["schema"], queryFn: () => get<JsonSchema>("/api/schema"), staleTime: Infinity });
export const experimentsQuery = queryOptions({ queryKey: ["experiments"], queryFn: () => get<ExperimentRow[]>("/api/experiments") });
export const datasetsQuery = queryOptions({ queryKey: ["datasets"], queryFn: () => get<Dataset[]>("/api/datasets") });

/** The rates of a document's sources over its horizon; only its workload matters for them. */
export const previewQuery = (document: ExperimentDocument) =>
  queryOptions({
    queryKey: ["preview", document.workload],
    queryFn: ({ signal }) => post<RatePreview>("/api/preview", { document }, signal),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });

/** The last write of an experiment's document; reading one waits for it, so that nobody is shown the state before their own edit. */
export const experimentWrites = { last: Promise.resolve() };

export const experimentQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiment", id],
    queryFn: () => experimentWrites.last.then(() => get<ExperimentRecord>(`/api/experiments/${id}`)),
    // The editor owns the document once it is open; a refetch must never replace what is being edited.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export const templatesQuery = queryOptions({ queryKey: ["templates"], queryFn: () => get<Template[]>("/api/templates"), staleTime: Infinity });
export const tagsQuery = queryOptions({ queryKey: ["tags"], queryFn: () => get<Tag[]>("/api/tags") });

export interface RunFilter {
  state: string;
  search: string;
  experiment: string;
  tag: string;
  /** As the API takes it: a column, with a minus before it for the other direction. */
  sort: string;
  offset: number;
}

export const RUNS_PER_PAGE = 50;

export const runsQuery = (filter: Partial<RunFilter>) =>
  queryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ limit: String(RUNS_PER_PAGE), offset: String(filter.offset ?? 0) });
      for (const name of ["state", "search", "experiment", "tag", "sort"] as const) if (filter[name]) query.set(name, filter[name]);
      return get<{ items: Run[]; count: number }>(`/api/runs?${query}`, signal);
    },
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: string) =>
  queryOptions({ queryKey: ["run", id], queryFn: () => get<Run>(`/api/runs/${id}`), staleTime: Infinity });

/** What was asked about a run's records, the newest first. */
export const questionsQuery = (run: string, enabled: boolean) =>
  queryOptions({ queryKey: ["waterfalls", run], queryFn: () => get<Question[]>(`/api/runs/${run}/waterfalls`), enabled });

/** One question with its answer, once a worker has found it. */
export const answerQuery = (run: string, id: string) =>
  queryOptions({
    queryKey: ["waterfalls", run, id],
    queryFn: () => get<Question & { waterfalls: Waterfall[] | null }>(`/api/runs/${run}/waterfalls/${id}`),
    enabled: id !== "",
    staleTime: Infinity,
  });

const FRAMES_PER_PAGE = 1000;

/** All frames of a run that has ended. Those of one that goes on are followed instead. */
export const framesQuery = (run: Pick<Run, "id" | "state">) =>
  queryOptions({
    queryKey: ["frames", run.id],
    enabled: !isActive(run),
    queryFn: async ({ signal }) => {
      const frames: Frame[] = [];
      for (;;) {
        const path = `/api/runs/${run.id}/frames?after=${frames.length - 1}&limit=${FRAMES_PER_PAGE}`;
        const page = await get<{ frames: Frame[]; next: number | null }>(path, signal);
        frames.push(...page.frames);
        if (page.next === null || page.frames.length < FRAMES_PER_PAGE) return frames;
      }
    },
    staleTime: Infinity,
  });

/** It has not ended. */
export function isActive(run: Pick<Run, "state">): boolean {
  return run.state === "queued" || run.state === "running" || run.state === "paused";
}

/** It goes on by itself. */
export const isMoving = (run: Pick<Run, "state">) => isActive(run) && run.state !== "paused";
