import { queryOptions, useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { Ways } from "../api/generated";
import refusals from "./refusals.json";

export const waysQuery = queryOptions({ queryKey: ["ways"], queryFn: () => get<Ways>("/api/session/ways"), staleTime: Infinity });

/** Of the address at which the provider sent the browser back; the canvas soon has another one. */
const reason = new URLSearchParams(window.location.search).get("sign_on");

/** Why the identity provider could not sign this person in; null if nothing was refused. */
export function useSignOnRefusal(): string | null {
  const { data: ways } = useQuery({ ...waysQuery, enabled: reason !== null });
  if (reason === null || !ways?.sign_on) return null;
  return `${ways.sign_on}: ${reason in refusals ? refusals[reason as keyof typeof refusals] : refusals.failed}`;
}
