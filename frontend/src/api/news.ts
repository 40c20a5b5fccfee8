/** What changes among the lab's runs and questions, put into the queries that show it. */
import type { QueryClient } from "@tanstack/react-query";
import { LiveSocket } from "./socket";
import type { NewsMessage, Question, Run, RunState, Waterfall } from "./types";

type Page = { items: Run[]; count: number };
type Answer = Question & { waterfalls: Waterfall[] | null };

/** Follows the news until it is stopped. Without a connection nothing is told; with the next one all that is shown is read anew. */
export function followNews(client: QueryClient): () => void {
  const states = new Map<string, RunState>();
  const anew = (...names: string[]) => names.forEach((name) => void client.invalidateQueries({ queryKey: [name] }));
  const socket = new LiveSocket<NewsMessage>({
    path: () => "/ws/news",
    onMessage: (message) => {
      if (message.type === "ready") anew("runs", "run", "tags", "waterfalls");
      if (message.type === "lists") anew("runs", "tags", "experiments", "waterfalls");
      if (message.type === "runs") takeRuns(message.runs);
      if (message.type === "questions") message.questions.forEach((question) => takeQuestion(client, question));
    },
    onRefused: () => undefined,
    onTrouble: () => undefined,
  });

  const takeRuns = (runs: Run[]) => {
    const byId = new Map(runs.map((run) => [run.id, run]));
    client.setQueriesData<Page>({ queryKey: ["runs"] }, (page) => page && { ...page, items: page.items.map((run) => byId.get(run.id) ?? run) });
    for (const run of runs) client.setQueryData<Run>(["run", run.id], (known) => known && { ...known, ...run });
    // A run that is new, or in another state, may have another place in a list, or none.
    if (runs.some((run) => states.get(run.id) !== run.state)) anew("runs");
    for (const run of runs) states.set(run.id, run.state);
  };

  socket.open();
  return () => socket.close();
}

function takeQuestion(client: QueryClient, question: Question): void {
  const all = ["waterfalls", question.run];
  const known = client.getQueryData<Question[]>(all);
  if (known?.some(({ id }) => id === question.id))
    client.setQueryData<Question[]>(all, known.map((one) => (one.id === question.id ? { ...one, ...question } : one)));
  else void client.invalidateQueries({ queryKey: all, exact: true });
  const one = [...all, question.id];
  // The answer itself is not told; it is read once it is there.
  if (question.state === "succeeded") void client.invalidateQueries({ queryKey: one });
  else client.setQueryData<Answer>(one, (answer) => answer && { ...answer, ...question });
}
