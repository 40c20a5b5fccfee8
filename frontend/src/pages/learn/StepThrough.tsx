import { useEffect, useMemo, useRef, useState } from "react";
import type { Explained, LessonStep } from "../../api/types";
import { scrollInList } from "../../lib/scrolling";
import { useCommands, type Command } from "../../session/commands";
import { Icon } from "../../ui/Icon";
import type { IconName } from "../../ui/icons";
import { isMoment, isRound, knownAt, legendOf } from "./picture";
import { SpaceTime } from "./SpaceTime";

/** Cases that mark no checkpoints and no lines. */
const WITHOUT_LINES = ["schedule", "windows", "forwarding", "similarity", "balancing", "changelog", "local_store", "output_log", "multi_join"];
/** More names than that are counted. */
const NAMES_MAX = 8;

/** One case, step by step: a sentence, the diagram, what is known. Arrow keys go on and back, Home and End to the ends. */
export function StepThrough({ told, begin, onStep }: { told: Explained; begin: number; onStep: (number: number) => void }) {
  const last = told.steps.length - 1;
  // Not the address itself: that follows too slowly for a key that is held down.
  const [at, setAt] = useState(Math.max(0, Math.min(last, begin)));
  const step = told.steps[at];
  const tell = useRef(onStep);
  useEffect(() => {
    tell.current = onStep;
  });
  const said = useRef(at);
  useEffect(() => {
    if (said.current !== at) tell.current(at);
    said.current = at;
  }, [at]);
  const commands = useMemo<Command[]>(() => {
    const command = (does: string, key: string, next: (now: number) => number): Command => ({
      does,
      group: "Steps",
      keys: [key],
      run: () => setAt((now) => Math.max(0, Math.min(last, next(now)))),
    });
    return [
      command("Next step", "ArrowRight", (now) => now + 1),
      command("Step back", "ArrowLeft", (now) => now - 1),
      command("First step", "Home", () => 0),
      command("Last step", "End", () => last),
    ];
  }, [last]);
  useCommands("steps", commands);
  const legend = useMemo(() => legendOf(told), [told]);
  if (!step) return null;
  return (
    <div className="step-through" data-testid="step-through">
      <section className="panel told">
        <div className="walk" role="group" aria-label="Steps">
          <Go icon="first" label="First step" refusal={at === 0 ? "This is the first step" : ""} onClick={() => setAt(0)} />
          <Go icon="left" label="Step back" refusal={at === 0 ? "This is the first step" : ""} onClick={() => setAt(at - 1)} />
          <Go icon="right" label="Next step" refusal={at === last ? "This is the last step" : ""} onClick={() => setAt(at + 1)} primary />
          <Go icon="last" label="Last step" refusal={at === last ? "This is the last step" : ""} onClick={() => setAt(last)} />
        </div>
        <div className={`sentence ${step.verdict}`} role="status" data-testid="step">
          <h2>
            {step.verdict && <Icon name={step.verdict === "good" ? "checkc" : "warn"} />}
            {step.title}
            <small>
              step {at + 1} of {last + 1}
            </small>
          </h2>
          <p>{step.text}</p>
        </div>
      </section>
      <section className="panel drawn">
        <div className="ph">
          <h2>{told.heading}</h2>
          <div className="lg" data-testid="legend">
            {legend.map(({ mark, label, means }) => (
              <span key={mark} title={means}>
                <Key mark={mark} />
                {label}
              </span>
            ))}
          </div>
        </div>
        <SpaceTime told={told} step={step} />
        {!WITHOUT_LINES.includes(told.shows) && <Known told={told} step={step} />}
      </section>
      <nav className="panel outline" aria-label="All steps">
        <div className="ph">
          <h2>Steps</h2>
        </div>
        <Outline steps={told.steps} at={at} onStep={setAt} />
      </nav>
      {step.table && <Knowledge table={step.table} />}
    </div>
  );
}

interface GoProps {
  icon: IconName;
  label: string;
  refusal: string;
  onClick: () => void;
  primary?: boolean;
}

function Go({ icon, label, refusal, onClick, primary = false }: GoProps) {
  // Not `disabled`: who steps with the keyboard would lose the focus at the end.
  return (
    <button
      className={`btn icon ${primary ? "primary" : ""}`}
      aria-disabled={refusal ? true : undefined}
      title={refusal || label}
      aria-label={label}
      onClick={() => !refusal && onClick()}
    >
      <Icon name={icon} />
    </button>
  );
}

function Outline({ steps, at, onStep }: { steps: LessonStep[]; at: number; onStep: (number: number) => void }) {
  const here = useRef<HTMLLIElement>(null);
  useEffect(() => {
    scrollInList(here.current);
  }, [at]);
  return (
    <ol className="scroll">
      {steps.map(({ title, verdict }, n) => (
        <li key={n} ref={n === at ? here : null}>
          <button aria-current={n === at ? "step" : undefined} onClick={() => onStep(n)}>
            <span>{n + 1}</span>
            <span className="ell">{title}</span>
            {verdict && <Icon name={verdict === "good" ? "check" : "warn"} small />}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** As words, for those who cannot tell the colours apart. */
function Known({ told, step }: { told: Explained; step: LessonStep }) {
  const known = knownAt(told, step);
  return (
    <dl className="known" data-testid="known">
      {known.length ? (
        known.map(([label, names]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd title={names.join(", ")}>
              {names.slice(0, NAMES_MAX).join(", ")}
              {names.length > NAMES_MAX && ` and ${names.length - NAMES_MAX} more`}
            </dd>
          </div>
        ))
      ) : (
        <div>
          <dt>Nothing is marked at this step.</dt>
        </div>
      )}
    </dl>
  );
}

/** What instances know after the step. */
function Knowledge({ table: { title, columns, rows } }: { table: NonNullable<LessonStep["table"]> }) {
  return (
    <section className="panel knows" data-testid="knows">
      <div className="ph">
        <h2>{title}</h2>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={title}>
        <table className="table">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...cells], row) => (
              <tr key={row}>
                <td>
                  <b>{name}</b>
                </td>
                {cells.map((cell, n) => (
                  <td key={columns[n + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const MESSAGES = ["orphan", "lost", "stored", "in-flight", "aside", "told"];

/** A mark as the diagram draws it. */
function Key({ mark }: { mark: string }) {
  if (mark === "edge")
    return (
      <svg width="22" height="14" aria-hidden="true" className="key">
        <path className="edge" d="M1 11Q10 0 20 8M14 4L20 8L13 9" />
      </svg>
    );
  if (mark === "wait")
    return (
      <svg width="22" height="14" aria-hidden="true" className="key">
        <g className="wait">
          <rect x="1" y="2" width="20" height="10" />
        </g>
      </svg>
    );
  if (mark === "served" || mark === "open-window")
    return (
      <svg width="22" height="14" aria-hidden="true" className="key">
        <rect className={mark} x="1" y="2" width="20" height="10" />
      </svg>
    );
  if (isMoment(mark))
    return (
      <svg width="14" height="14" aria-hidden="true" className="key">
        <g className={`checkpoint ${mark}`}>{isRound(mark) ? <circle cx="7" cy="7" r={mark === "event" ? 4 : 5} /> : <path d="M7 0V14" />}</g>
      </svg>
    );
  if (mark === "barrier")
    return (
      <svg width="22" height="14" aria-hidden="true" className="key">
        <g className="message barrier">
          <path className="way" d="M1 7H18" />
          <path className="bar" d="M19 1V13" />
        </g>
      </svg>
    );
  if (MESSAGES.includes(mark))
    return (
      <svg width="22" height="14" aria-hidden="true" className="key">
        <g className={`message record ${mark}`}>
          <path className="way" d="M1 7H15" />
          <path className="head" d="M22 7l-8 -4v8z" />
        </g>
      </svg>
    );
  return (
    <svg width="14" height="14" aria-hidden="true" className="key">
      <g className={`checkpoint ${mark}`}>
        {mark === "marked" && <circle className="ring" cx="7" cy="7" r="6.3" />}
        <path d={mark === "forced" ? "M7 0.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z" : mark === "marked" ? "M4 4h6v6h-6z" : "M2 2h10v10h-10z"} />
        {(mark === "discarded" || mark === "useless") && <path className="gone" d="M4 4l6 6m0 -6l-6 6" />}
      </g>
    </svg>
  );
}
