import { useState } from "react";
import type { AdviceModels, AdviceQuestion } from "../../../api/types";
import { GOALS, modelsOf } from "../../../model/document/advice";
import { expandHosts } from "../../../model/document/hosts";
import { Icon } from "../../../ui/Icon";
import { useEditor } from "../editor";
import { Section } from "../inspector/Section";
import { changeSettings } from "./asking";

/** More hosts are not listed. */
const HOSTS_SHOWN_MAX = 200;

/** The goal, the models where there are several, and what the placements have to keep to. */
export function SettingsForm({
  settings,
  question,
  models,
}: {
  settings: AdviceQuestion;
  /** The settings as they are asked. */
  question: AdviceQuestion;
  models: AdviceModels[];
}) {
  const goals = modelsOf(models, question.models)?.goals;
  const { pinned, forbidden } = settings;
  return (
    <>
      <div className="form first">
        <div className="seg" role="radiogroup" aria-label="Goal">
          {GOALS.map(({ id, title }) => {
            const isKnown = !goals || goals.includes(id);
            return (
              <label key={id} title={isKnown ? "" : "These models do not predict it."}>
                <input
                  type="radio"
                  name="advice-goal"
                  checked={question.goal === id}
                  disabled={!isKnown}
                  onChange={() => changeSettings({ goal: id })}
                />
                {title}
              </label>
            );
          })}
        </div>
        {models.length > 1 && (
          <div className="field">
            <label htmlFor="advice-models">Models</label>
            <div className="in">
              <select id="advice-models" value={question.models} onChange={(event) => changeSettings({ models: event.target.value })}>
                {models.map(({ name, corpus }) => (
                  <option key={name} value={name}>
                    {name === corpus ? name : `${name}, trained on ${corpus}`}
                  </option>
                ))}
              </select>
              <Icon name="down" />
            </div>
          </div>
        )}
      </div>
      <Section title="Pinned operators" summary={Object.keys(pinned).join(", ") || "none"} open={false} reads>
        <Pins pinned={pinned} />
      </Section>
      <Section title="Forbidden hosts" summary={forbidden.join(", ") || "none"} open={false} reads>
        <Forbidden forbidden={forbidden} />
      </Section>
    </>
  );
}

function Pins({ pinned }: { pinned: AdviceQuestion["pinned"] }) {
  const document = useEditor((state) => state.document);
  const placement = useEditor((state) => state.placement);
  const selected = useEditor((state) => state.selection.operators[0]);
  const [chosen, setChosen] = useState("");
  const hosts = expandHosts(document).map(({ name }) => name);
  const free = document.query.operators.map(({ id }) => id).filter((id) => !(id in pinned));
  const next = [chosen, selected, free[0]].find((id) => id && free.includes(id)) ?? "";
  const pin = (operator: string, host: string) => changeSettings({ pinned: { ...pinned, [operator]: host } });
  return (
    <>
      {Object.entries(pinned).map(([operator, host]) => (
        <div key={operator} className="pin">
          <span className="ell" title={operator}>
            {operator}
          </span>
          <div className="in">
            <select aria-label={`Host of ${operator}`} value={host} onChange={(event) => pin(operator, event.target.value)}>
              {!hosts.includes(host) && <option value={host}>{host} (not there any more)</option>}
              {hosts.map((name) => (
                <option key={name} value={name}>
                  {name === placement[operator]?.[0] ? `${name} (present)` : name}
                </option>
              ))}
            </select>
            <Icon name="down" />
          </div>
          <button
            className="btn ghost icon"
            aria-label={`Unpin ${operator}`}
            title="Unpin"
            onClick={() => changeSettings({ pinned: Object.fromEntries(Object.entries(pinned).filter(([id]) => id !== operator)) })}
          >
            <Icon name="cross" small />
          </button>
        </div>
      ))}
      {next ? (
        <div className="pin add">
          <div className="in">
            <select aria-label="Operator to pin" value={next} onChange={(event) => setChosen(event.target.value)}>
              {free.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
            <Icon name="down" />
          </div>
          <button
            className="btn"
            title="Keep this operator on its present host"
            disabled={!hosts.length}
            onClick={() => {
              pin(next, placement[next]?.[0] ?? (hosts[0] as string));
              setChosen("");
            }}
          >
            <Icon name="pin" />
            Pin
          </button>
        </div>
      ) : (
        <p className="mut small">All operators are pinned.</p>
      )}
    </>
  );
}

function Forbidden({ forbidden }: { forbidden: string[] }) {
  const document = useEditor((state) => state.document);
  const hosts = expandHosts(document);
  return (
    <>
      <p className="mut small">Nothing is placed on these hosts, except operators that are pinned there.</p>
      <ul className="forbidden scroll" aria-label="Forbidden hosts">
        {hosts.slice(0, HOSTS_SHOWN_MAX).map(({ name, group }) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={forbidden.includes(name)}
                onChange={(event) =>
                  changeSettings({ forbidden: event.target.checked ? [...forbidden, name] : forbidden.filter((one) => one !== name) })
                }
              />
              <span className="ell">{name}</span>
              <small className="mut">{group}</small>
            </label>
          </li>
        ))}
      </ul>
      {hosts.length > HOSTS_SHOWN_MAX && <p className="mut small">and {hosts.length - HOSTS_SHOWN_MAX} more</p>}
    </>
  );
}
