/** The lab's people, tokens and limits, as the server keeps them. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type * as Api from "../../api/generated";
import type { Role, Scope } from "../../api/types";
import type { LogEntry } from "./audit";

export interface Token {
  id: number;
  name: string;
  person: string;
  yours: boolean;
  scope: Scope;
  state: "active" | "expired" | "revoked";
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const tokensQuery = queryOptions({ queryKey: ["tokens"], queryFn: () => get<Token[]>("/api/tokens") });

/** What each scope opens, in words. */
export const SCOPES: Record<Scope, string> = {
  metrics: "read /metrics and nothing else: for Prometheus",
  read: "view everything, follow runs live",
  write: "also edit, run, cancel and delete",
  admin: "also manage people, invitations and all tokens",
};

export interface Person {
  id: number;
  name: string;
  role: Role;
  you: boolean;
  joined_at: string;
  signed_in_at: string | null;
}

export interface Invitation {
  id: number;
  role: Role;
  invited_by: string | null;
  created_at: string;
  expires_at: string;
}

export const peopleQuery = queryOptions({ queryKey: ["people"], queryFn: () => get<Person[]>("/api/people") });
export const invitationsQuery = (enabled: boolean) =>
  queryOptions({ queryKey: ["invitations"], queryFn: () => get<Invitation[]>("/api/invitations"), enabled });

/** What each role may do, in words. */
export const ROLES: Record<Role, string> = {
  viewer: "views everything, changes nothing",
  member: "also edits, runs and deletes",
  owner: "also manages people and all tokens",
};

/** An experiment with its runs, or a data set. */
export type Large = Api.Large;
/** A retention rule: either days or bytes. kept_tags: null for any tag. */
export type Rule = Api.RuleShape;
export type RuleBody = Omit<Rule, "id" | "paused">;
export type Removal = Api.RemovalShape;
/** What a rule would remove now. first: the oldest ones. */
export type Preview = Api.RulePreview;
export type Storage = Api.StorageShape;

export const storageQuery = queryOptions({ queryKey: ["storage"], queryFn: () => get<Storage>("/api/storage") });

export const ENTRIES_PER_PAGE = 50;

export const auditQuery = (filter: { person: string; action: string; offset: number }, enabled: boolean) =>
  queryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ limit: String(ENTRIES_PER_PAGE), offset: String(filter.offset) });
      for (const name of ["person", "action"] as const) if (filter[name]) query.set(name, filter[name]);
      return get<{ items: LogEntry[]; count: number }>(`/api/audit?${query}`, signal);
    },
    placeholderData: keepPreviousData,
    enabled,
  });
