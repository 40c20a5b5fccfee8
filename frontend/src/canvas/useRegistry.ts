import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { registryQuery, schemaQuery } from "../api/queries";
import type { Kind, Registry } from "../api/types";

const EMPTY: Registry = {};

/** The registry, with operator kinds by name, titles of streams, and the document's own schema. */
export function useRegistry() {
  const { data: registry = EMPTY } = useQuery(registryQuery);
  const { data: schema } = useQuery(schemaQuery);
  return useMemo(() => {
    const kinds = new Map<string, Kind>((registry.operators ?? []).map((kind) => [kind.kind, kind]));
    const streamTitles = new Map<string, string>((registry.streams ?? []).map((kind) => [kind.kind, kind.title]));
    return { registry, schema, kinds, streamTitles };
  }, [registry, schema]);
}
