import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import { isActive, registryQuery } from "../../api/queries";
import type { Frame, ScalingDecision } from "../../api/types";
import { isAsked, iterationAt, knownAt, moment, relocates, whyNot, type ChosenIteration } from "../../model/run/scaling";
import { Icon } from "../../ui/Icon";
import type { IconName } from "../../ui/icons";
import { hold, momentOf, useLiveRun } from "./liveRun";
import { Mape } from "./Mape";
import { RescaleButton } from "./Rescale";
import { Rescales } from "./Rescales";

/** The iteration at the moment shown as monitor, analyse, plan and execute; what is going on, or why nothing is; and all rescales. */
export function Autoscaler({ document, onRescale }: { document: ExperimentDocument; onRescale: (frame: Frame) => void }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const over = useLiveRun(({ run }) => run !== null && !isActive(run));
  const history = log.scaling;
  // An iteration within the frame that is shown belongs to it: the moment is the frame's end.
  const shown_s = count ? (moment_s === null ? log.head_s : log.timeOf(Math.min(log.numberAt(moment_s), count - 1))) : 0;
  const [chosen, setChosen] = useState<ChosenIteration | null>(null);
  const number = iterationAt(history, shown_s, chosen);
  const decision = history.decisions[number];
  const { data: registry = {} } = useQuery(registryQuery);
  const asked = isAsked(document, registry);
  const actions = relocates(document, registry) ? "Moves" : "Rescales";
  const why = count ? whyNot(history, document, asked, shown_s, number, over) : { text: "No frame yet.", tone: "plain" as const };
  return (
    <div className="autoscaler scroll" tabIndex={0} role="region" aria-label="Autoscaler" data-testid="autoscaler">
      <p className={`why-not ${why.tone}`} data-testid="why-not">
        <Icon name={TONE_ICON[why.tone]} small />
        <span>{why.text}</span>
      </p>
      {asked && decision && <Iteration decisions={history.decisions} number={number} onChosen={setChosen} />}
      {asked && decision && (
        <Mape
          document={document}
          decision={decision}
          action={knownAt(history.actionOf(decision), shown_s)}
          over={over && shown_s >= log.head_s}
        />
      )}
      {asked && !decision && (
        <p className="mut small none" data-testid="no-iteration">
          What the policy reads, computes, requests and does appears here from its first iteration on.
        </p>
      )}
      <section data-testid="rescales">
        <div className="ph">
          <h2>{actions}</h2>
          <span className="mut">{history.actions.length}</span>
          <span className="grow" />
          <RescaleButton document={document} onRescale={onRescale} />
        </div>
        {history.actions.length ? (
          <Rescales history={history} head_s={log.head_s} over={over} latest={moment_s === null ? undefined : history.actionAt(shown_s)} />
        ) : (
          <p className="mut small none">No {actions.toLowerCase()} yet.</p>
        )}
      </section>
    </div>
  );
}

const TONE_ICON: Record<"plain" | "good" | "warn" | "bad", IconName> = { plain: "info", good: "check", warn: "clock", bad: "crossc" };

function Iteration({
  decisions,
  number,
  onChosen,
}: {
  decisions: ScalingDecision[];
  number: number;
  onChosen: (chosen: ChosenIteration) => void;
}) {
  const at_s = decisions[number]?.t_s ?? 0;
  const show = (number: number, t_s: number) => onChosen({ number, moment_s: hold(t_s) });
  const step = (by: number, label: string, last: string) => {
    const other = decisions[number + by];
    return (
      <button
        className="btn ghost icon mini"
        aria-label={label}
        title={other ? `${label}, at ${moment(other.t_s)}` : last}
        disabled={!other}
        onClick={() => other && show(number + by, other.t_s)}
      >
        <Icon name="right" small className={by < 0 ? "flip" : ""} />
      </button>
    );
  };
  return (
    <div className="ph">
      <h2 data-testid="iteration">
        Iteration {number + 1} <span className="mut">of {decisions.length}</span>
      </h2>
      <button className="btn ghost mini-text" title="Show this moment" onClick={() => show(number, at_s)}>
        {moment(at_s)}
      </button>
      <span className="grow" />
      {step(-1, "Previous iteration", "This is the first iteration")}
      {step(1, "Next iteration", "This is the last iteration so far")}
    </div>
  );
}
