import type { Assertion, AssertionState, FigureStatus, Scale } from "../../api/figure";
import type { Reproduction } from "../../api/types";
import { percent } from "../../lib/format";
import { tallyText, underWayText } from "../../model/figure/figure";
import { Icon } from "../../ui/Icon";
import type { IconName } from "../../ui/icons";
import { Track } from "../../ui/Track";

const STATUS: Record<FigureStatus, { icon: IconName; word: string; tone: string }> = {
  reproduced: { icon: "checkc", word: "Reproduced", tone: "ok" },
  calibrated: { icon: "checkc", word: "Calibrated", tone: "cal" },
  partly: { icon: "halfc", word: "Partly reproduced", tone: "warn" },
  "not reproduced": { icon: "crossc", word: "Not reproduced", tone: "err" },
  "not evaluated": { icon: "askc", word: "Not evaluated", tone: "" },
  "not run": { icon: "dashc", word: "Not run", tone: "" },
};

export const statusWord = (status: FigureStatus) => STATUS[status].word;
export const statusIcon = (status: FigureStatus) => STATUS[status].icon;

const WHY: Partial<Record<FigureStatus, string>> = {
  calibrated: "All assertions hold, but a price was fitted to this figure",
  "not evaluated": "No assertion could be evaluated; each says why",
};

/** Of an assertion that has no verdict yet, while one is being measured. */
export function UnderWayBadge({ row }: { row: Reproduction }) {
  return (
    <span className="badge acc" data-state="under way" title="The verdict follows when all runs have ended">
      <Icon name={row.state === "queued" ? "clock" : "play"} small />
      {underWayText(row)}
    </span>
  );
}

/**
 * Icon, word, then colour; how far the first run is until a first result is there; and the scale, where it is too small for a verdict.
 * Calibrated is outlined: it never counts as reproduced.
 */
export function StatusBadge({
  status,
  scale,
  underWay,
}: {
  status: FigureStatus;
  scale: Scale | null;
  underWay?: Reproduction | undefined;
}) {
  if (underWay && status === "not run")
    return (
      <span className="badge acc" data-testid="figure-status" data-status="in progress">
        <Icon name={underWay.state === "queued" ? "clock" : "play"} small />
        {underWayText(underWay)}
      </span>
    );
  const { icon, word, tone } = STATUS[status];
  const smoke = scale === "smoke";
  const why = [WHY[status], smoke && "Measured at smoke scale, the smallest: no verdict on the paper"].filter(Boolean).join(". ") || undefined;
  return (
    <span className={`badge ${tone}`} data-testid="figure-status" data-status={status} title={why}>
      <Icon name={icon} small />
      {smoke ? `${word} · smoke` : word}
    </span>
  );
}

const STATES: AssertionState[] = ["holds", "fails", "not evaluated", "not run"];

/** A block for each assertion: full, hatched, empty. The words beside it say the same. */
export function Tally({ states }: { states: Partial<Record<AssertionState, number>> }) {
  const blocks = STATES.flatMap((state) => Array.from({ length: states[state] ?? 0 }, () => state));
  return (
    <span className="tally" role="img" aria-label={tallyText(states)}>
      {blocks.map((state, at) => (
        <i key={at} className={state === "holds" ? "" : state === "fails" ? "x" : "n"} />
      ))}
    </span>
  );
}

/** Number in each state, without consistency checks. */
export function statesOf(assertions: readonly Assertion[]): Partial<Record<AssertionState, number>> {
  const states: Partial<Record<AssertionState, number>> = {};
  for (const { state, consistency } of assertions) if (!consistency) states[state] = (states[state] ?? 0) + 1;
  return states;
}

/** How far it is. */
export function Progress({ row }: { row: Reproduction }) {
  const words = row.cancel_requested ? "Cancelling" : row.state === "queued" ? "Waiting for a worker" : row.doing || percent(row.progress);
  return (
    <span className="progress" data-testid="figure-progress">
      <Track share={row.progress} label={`${row.figure} at ${row.scale} scale`} />
      <span>
        {words}, {row.scale} scale
      </span>
    </span>
  );
}
