import { Icon } from "./Icon";
import type { IconName } from "./icons";

/** Of an assertion about a run or of a figure. */
export type VerdictState = "holds" | "fails" | "cannot be judged" | "not evaluated" | "not run";

const STATES: Record<VerdictState, { icon: IconName; word: string; tone: string }> = {
  holds: { icon: "checkc", word: "holds", tone: "ok" },
  fails: { icon: "crossc", word: "does not hold", tone: "err" },
  "cannot be judged": { icon: "askc", word: "cannot be judged", tone: "warn" },
  "not evaluated": { icon: "askc", word: "not evaluated", tone: "" },
  "not run": { icon: "dashc", word: "not run", tone: "" },
};

/** Icon, word, then colour. text: in place of the word, for several assertions together. */
export function VerdictBadge({ state, text, title }: { state: VerdictState; text?: string; title?: string }) {
  const { icon, word, tone } = STATES[state];
  return (
    <span className={`badge ${tone}`} data-state={state} title={title}>
      <Icon name={icon} small />
      {text ?? word}
    </span>
  );
}
