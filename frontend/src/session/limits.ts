/** What a person may have at a time, and what they have. */
import { queryOptions } from "@tanstack/react-query";
import { get } from "../api/client";

export interface Limits {
  running: number | null;
  waiting: number | null;
  stored_bytes: number | null;
  requests: number | null;
}

export interface LimitsAndUsage {
  limits: Limits;
  used: Record<keyof Limits, number>;
}

export const limitsQuery = queryOptions({ queryKey: ["limits"], queryFn: () => get<LimitsAndUsage>("/api/limits"), staleTime: 0 });
