import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNavigate } from "react-router";
import { experimentsQuery, figuresQuery, registryQuery, runsQuery, studiesQuery } from "../api/queries";
import { found } from "../lib/search";
import { helpFamilies, searchHelp } from "../model/document/help";
import type { Command } from "../session/commands";

/** Shorter searches match nearly everything. */
const LETTERS_MIN = 2;
/** Of each kind. */
const FOUND_MAX = 5;

/** What the lab and Help have under these words, as commands that open it. */
export function useFound(search: string): Command[] {
  const navigate = useNavigate();
  const text = search.trim();
  const enabled = text.length >= LETTERS_MIN;
  const { data: experiments } = useQuery({ ...experimentsQuery, enabled });
  const { data: studies } = useQuery({ ...studiesQuery(0), enabled });
  const { data: figures } = useQuery({ ...figuresQuery, enabled });
  const { data: registry } = useQuery(registryQuery);
  const { data: runs } = useQuery({ ...runsQuery({ search: text }), enabled, retry: false });
  return useMemo(() => {
    if (!enabled) return [];
    const opens = (group: string, does: string, to: string): Command => ({ group, does, run: () => void navigate(to) });
    const help = searchHelp(helpFamilies(registry ?? {}), text).flatMap(({ family, kinds }) =>
      kinds.map(({ kind, title }) => opens("Help", title, `/help/${family}/${kind}`)),
    );
    return [
      ...found(experiments ?? [], text, ({ name }) => name)
        .slice(0, FOUND_MAX)
        .map(({ id, name }) => opens("Experiment", name, `/experiments/${id}`)),
      ...(runs?.items ?? []).slice(0, FOUND_MAX).map(({ id, number, experiment }) => opens("Run", `#${number} ${experiment.name}`, `/runs/${id}`)),
      ...found(studies?.items ?? [], text, ({ name }) => name)
        .slice(0, FOUND_MAX)
        .map(({ id, name }) => opens("Study", name, `/studies/${id}`)),
      ...found(figures ?? [], text, ({ id, title }) => `${title} ${id}`)
        .slice(0, FOUND_MAX)
        .map(({ id, title }) => opens("Figure", title, `/figures/${id}`)),
      ...help.slice(0, FOUND_MAX),
    ];
  }, [enabled, text, experiments, runs, studies, figures, registry, navigate]);
}
