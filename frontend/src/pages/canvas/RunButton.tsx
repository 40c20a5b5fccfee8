import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { Run } from "../../api/types";
import { named, sentenceOf, type NamedProblem } from "../../model/document/naming";
import { paceIn } from "../../model/run/pace";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { NumberInput, useUnreadInDialog } from "../../ui/NumberInput";
import { PaceField } from "../../ui/PaceField";
import { toast } from "../../ui/toasts";
import { goTo, insist, useEditor } from "./editor";
import { useRegistry } from "./useRegistry";
import { CHOOSE_FIRST, saveNow } from "./useServer";

/** Runs the saved document. With errors it names the first one and goes to it. */
export function RunButton({ errors }: { errors: NamedProblem[] }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [seed, setSeed] = useState<number>();
  const [pace, setPace] = useState("");
  const operators = useEditor((state) => state.document.query.operators.length);
  const { schema, kinds } = useRegistry();
  const starting = useRef(false);
  const run = useMutation({
    mutationFn: async (chosen: { seed?: number; pace?: number | null }) => {
      await saveNow();
      const { id, version, save, conflict } = useEditor.getState();
      if (conflict) throw new Error(CHOOSE_FIRST);
      if (save !== "saved") throw new Error("the experiment could not be saved");
      return post<Run>(`/api/experiments/${id}/runs`, { version, ...chosen });
    },
    onSuccess: (made) => {
      if (made.note) toast(made.note, { tone: "warn", seconds: 12 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/runs/${made.id}`);
    },
    onError: (error) => {
      if (error instanceof ApiError && error.problems.length) {
        insist(error.problems.map((problem) => named(problem, useEditor.getState().document, schema, kinds)));
        goTo(error.problems[0]?.pointer ?? "");
      }
      toast(`Run not started: ${error.message}`, { tone: "err" });
    },
  });
  const first = errors[0];
  const unread = useUnreadInDialog();
  const refusal = useRefusal();
  const why = refusal ?? (!operators
    ? "The query is empty: add a source, an operator and a sink."
    : first
      ? `Cannot run yet: ${sentenceOf(first)}`
      : run.isPending || run.isSuccess
        ? "Starting"
        : "");
  const read = paceIn(pace);
  const whyNot = why || unread || ("problem" in read ? read.problem : "");
  const start = (chosen: { seed?: number; pace?: number | null } = {}) => {
    if (first && !refusal) {
      insist();
      return goTo(first.pointer);
    }
    if (why || starting.current) return;
    starting.current = true; // the second click of a double click comes before the button is drawn anew
    run.mutate(chosen, { onError: () => (starting.current = false) });
  };
  return (
    <span className="split">
      <button
        className="btn primary"
        data-command="run"
        data-testid="run"
        aria-disabled={Boolean(why)}
        title={why ? `${why}${first && !refusal ? `${/[.!?]$/.test(why) ? "" : "."} Click to go there.` : ""}` : "Run (Ctrl+Enter)"}
        onClick={() => start()}
      >
        <Icon name="play" />
        Run
      </button>
      <Menu title="Run with another seed or pace" refusal={refusal} className="btn primary" label={<Icon name="down" small />}>
        {(close) => (
          <form
            className="seed"
            onSubmit={(event) => {
              event.preventDefault();
              if (whyNot) return;
              close();
              start({ ...(seed === undefined ? {} : { seed }), ...("pace" in read ? read : {}) });
            }}
          >
            <div className="field">
              <label htmlFor="seed">
                Seed<i>of this run only</i>
              </label>
              <NumberInput id="seed" label="Seed" value={seed} least={0} placeholder="the document's" autoFocus onChange={setSeed} />
            </div>
            <PaceField value={pace} onChange={setPace} />
            <span className="two">
              <button type="button" className="btn" onClick={() => setSeed(Math.floor(Math.random() * 1_000_000))}>
                Pick a random seed
              </button>
              <button className="btn primary" disabled={Boolean(whyNot)} title={whyNot}>
                Run
              </button>
            </span>
          </form>
        )}
      </Menu>
    </span>
  );
}
