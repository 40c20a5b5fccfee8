import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Run } from "../../api/types";
import { plural } from "../../lib/format";
import { toast } from "../../ui/toasts";

const UNDO_S = 10;

type Action = "delete" | "restore" | "cancel" | "tag" | "untag";
const OPPOSITE: Partial<Record<Action, Action>> = { delete: "restore", tag: "untag", untag: "tag" };

/** Does one thing to many runs, says so, and offers its undo: the opposite for exactly those that were changed. */
export function useBulk() {
  const client = useQueryClient();
  const send = async (action: Action, ids: string[], tag?: string): Promise<string[]> => {
    const { changed } = await post<{ changed: string[] }>("/api/runs/bulk", { action, ids, ...(tag ? { tag } : {}) });
    await Promise.all(["runs", "tags", "experiments"].map((name) => client.invalidateQueries({ queryKey: [name] })));
    return changed;
  };
  const failed = (problem: unknown) => toast(problem instanceof Error ? problem.message : String(problem), { tone: "err" });
  return async (action: Action, runs: Pick<Run, "id" | "number">[], tag?: string): Promise<void> => {
    try {
      const changed = await send(action, runs.map((run) => run.id), tag);
      const opposite = OPPOSITE[action];
      const only = runs.length === 1 && runs[0] ? `Run ${runs[0].number}` : plural(changed.length, "run");
      toast(told(action, only, changed.length, tag), {
        seconds: UNDO_S,
        ...(opposite && changed.length
          ? { action: { label: "Undo", run: () => void send(opposite, changed, tag).catch(failed) } }
          : {}),
      });
    } catch (problem) {
      failed(problem);
    }
  };
}

function told(action: Action, runs: string, changed: number, tag = ""): string {
  if (!changed) return action === "cancel" ? "None of these is still running." : `Nothing to change${tag ? `: “${tag}”` : ""}.`;
  if (action === "tag") return `${runs} tagged “${tag}”.`;
  if (action === "untag") return `“${tag}” removed from ${runs.replace(/^R/, "r")}.`;
  if (action === "cancel") return `${runs} cancelled; measurements so far are kept.`;
  return `${runs} ${action === "delete" ? "deleted" : "restored"}.`;
}
