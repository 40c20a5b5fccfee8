/** Entries of the lab's log, in words. */

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

const WORDS: Record<string, string> = {
  "session.sign_in": "signed in",
  "session.sign_out": "signed out",
  "session.failed": "failed to sign in",
  "session.password": "set a password",
  "join.account": "joined with a new account",
  "join.accept": "joined again",
  "people.change": "changed the role of",
  "people.delete": "removed",
  "people.link": "created a sign-in link for",
  "invitations.create": "invited someone",
  "invitations.delete": "withdrew an invitation",
  "tokens.create": "issued the token",
  "tokens.delete": "revoked the token",
  "experiments.change": "edited",
  "experiments.versions.restore": "restored a version of",
  "runs.start": "started a run of",
  "runs.bulk": "changed several runs",
  "datasets.create": "uploaded",
  "storage.change": "changed the storage limits",
};

const DONE: Record<string, string> = { create: "created", change: "changed", delete: "deleted", bulk: "changed several of", reproductions: "reproduced" };
const THINGS: Record<string, string> = { runs: "", experiments: "", studies: "the study", datasets: "the data set", figures: "the figure", analyses: "an analysis" };

/** What was done, as the words between who did it and to what. What this page does not know yet is spelt out. */
export function inWords(action: string): string {
  const known = WORDS[action];
  if (known) return known;
  const [thing = "", ...rest] = action.split(".");
  const verb = rest.at(-1) ?? "";
  return `${DONE[verb] ?? past(verb.replace(/_/g, " "))} ${THINGS[thing] ?? thing}`.trim();
}

const past = (verb: string) => (verb.endsWith("l") ? `${verb}led` : verb.endsWith("y") ? `${verb.slice(0, -1)}ied` : verb.endsWith("e") ? `${verb}d` : `${verb}ed`);

/** Where the thing is, as far as a page shows it. */
export function linkOf({ action, subject, subject_id }: Pick<LogEntry, "action" | "subject" | "subject_id">): string | null {
  if (!subject || !subject_id || action.endsWith(".delete")) return null;
  if (subject.startsWith("run ") && action.startsWith("runs.")) return `/runs/${subject_id}`;
  if (action.startsWith("experiments.") || action === "runs.start") return `/experiments/${subject_id}`;
  return null;
}
