/** Entries of the lab's log, in words. */
import actions from "./actions.json";

export interface LogEntry {
  id: number;
  at: string;
  person: string;
  token: string;
  action: string;
  subject: string;
  subject_id: string;
  detail: string;
}

const WORDS: Record<string, string> = actions;

/** What was done, as the words between who did it and to what. An action of a server of another version is told by its name. */
export const inWords = (action: string): string => WORDS[action] ?? action;

/** Where the thing is, as far as a page shows it. */
export function linkOf({ action, subject, subject_id }: Pick<LogEntry, "action" | "subject" | "subject_id">): string | null {
  if (!subject || !subject_id || action.endsWith(".delete")) return null;
  if (subject.startsWith("run ") && action.startsWith("runs.")) return `/runs/${subject_id}`;
  if (action.startsWith("experiments.") || action === "runs.start") return `/experiments/${subject_id}`;
  return null;
}
