import { useQuery } from "@tanstack/react-query";
import { registryQuery, schemaQuery } from "../../api/queries";
import type { Kind, Registry } from "../../api/types";
import { rememberLast } from "../../lib/memo";

const EMPTY: Registry = {};

const byName = rememberLast((registry: Registry) => ({
  registry,
  kinds: new Map<string, Kind>((registry.operators ?? []).map((kind) => [kind.kind, kind])),
  streamTitles: new Map<string, string>((registry.streams ?? []).map((kind) => [kind.kind, kind.title])),
}));

/** The registry, with operator kinds by name, titles of streams, and the document's own schema. */
export function useRegistry() {
  const { data: registry = EMPTY } = useQuery(registryQuery);
  const { data: schema } = useQuery(schemaQuery);
  return { ...byName(registry), schema };
}
