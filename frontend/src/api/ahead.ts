/** Answers that are asked for before the page that needs them is there. */
const KEPT_MS = 5000;
const asked = new Map<string, { answer: Promise<Response | null>; at_ms: number }>();

export function askAhead(path: string): void {
  const answer = fetch(path, { headers: { Accept: "application/json" }, credentials: "same-origin" }).then(
    (response) => (response.ok ? response : null),
    () => null,
  );
  asked.set(path, { answer, at_ms: Date.now() });
}

/** What was asked for a moment ago, once; null if it was not, or went wrong: then it is to be asked for as usual. */
export function takeAhead(path: string): Promise<Response | null> | null {
  const found = asked.get(path);
  asked.delete(path);
  return found && Date.now() - found.at_ms < KEPT_MS ? found.answer : null;
}
