/** What a person may have at a time, and what they have. */
import { queryOptions } from "@tanstack/react-query";
import { get } from "../api/client";
import type * as Api from "../api/generated";

export type Limits = Api.LimitsShape;
export type LimitsAndUsage = Api.LimitsAndUsage;

export const limitsQuery = queryOptions({ queryKey: ["limits"], queryFn: () => get<LimitsAndUsage>("/api/limits"), staleTime: 0 });
