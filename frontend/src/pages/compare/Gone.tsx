import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Comparison } from "../../api/types";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

/** Says which runs of a comparison are not there any more. */
export function Gone({ gone, comparison, onLeave }: { gone: string[]; comparison: Comparison | undefined; onLeave: () => void }) {
  const client = useQueryClient();
  const numbers = new Map(comparison?.gone.map(({ id, number }) => [id, number]));
  const deleted = gone.filter((id) => typeof numbers.get(id) === "number");
  const names = deleted.map((id) => `Run ${numbers.get(id)}`);
  const unknown = gone.length - deleted.length;
  const said = [
    names.length && `${names.join(" and ")} ${names.length === 1 ? "was" : "were"} deleted`,
    unknown && `${unknown === 1 ? "one run in this address never" : `${unknown} runs in this address never`} existed`,
  ].filter(Boolean);
  const restore = async () => {
    try {
      await post("/api/runs/bulk", { action: "restore", ids: deleted });
    } catch (problem) {
      toast(problem instanceof Error ? problem.message : String(problem), { tone: "err" });
    }
    await Promise.all(["run", "runs", "compare"].map((name) => client.invalidateQueries({ queryKey: [name] })));
  };
  return (
    <div className="gone" role="status" data-testid="gone">
      <Icon name="warn" />
      <span>{`${said.join("; ")}. The others are shown without ${gone.length === 1 ? "it" : "them"}.`.replace(/^o/, "O")}</span>
      <span className="grow" />
      {deleted.length > 0 && (
        <WriteButton className="btn" title="Undo the deletion" onClick={() => void restore()}>
          <Icon name="rerun" />
          Restore
        </WriteButton>
      )}
      <button className="btn" onClick={onLeave}>
        Continue without {gone.length === 1 ? "it" : "them"}
      </button>
    </div>
  );
}
