import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import { registryQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { coerceDocument } from "../../model/document/coerce";
import { expandHosts } from "../../model/document/hosts";
import {
  forkBody,
  forkRefusal,
  LAWS,
  loadIn,
  moveRefusal,
  otherSchedulings,
  settingIn,
  STORE_SETTINGS,
  storeSettings,
  TROUBLES,
  vectorSources,
  type ForkWish,
  type Trouble,
} from "../../model/run/fork";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { toast } from "../../ui/toasts";

/** Another future from the moment that is shown on. Both are then drawn over each other. */
export function ForkMenu({ run, at_s, horizon_s, gone }: { run: Run; at_s: number | null; horizon_s: number; gone: boolean }) {
  const refusal = useRefusal() ?? forkRefusal(at_s, horizon_s, gone);
  const label = (
    <>
      <Icon name="fork" />
      <span className="lbl">Fork</span>
    </>
  );
  if (refusal !== null || at_s === null)
    return (
      <button className="btn" disabled title={refusal ?? ""} data-testid="fork">
        {label}
      </button>
    );
  return (
    <Menu title={`Try other conditions from ${at_s.toFixed(2)} s on`} className="btn" label={label}>
      {(close) => <ForkForm run={run} at_s={at_s} onMade={close} />}
    </Menu>
  );
}

function ForkForm({ run, at_s: shown_s, onMade }: { run: Run; at_s: number; onMade: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [at_s] = useState(shown_s); // a live run goes on while one chooses
  const document = useMemo(() => coerceDocument(run.document), [run.document]);
  const hosts = useMemo(() => expandHosts(document).map(({ name }) => name), [document]);
  const { data: registry = {} } = useQuery(registryQuery);
  const schedulings = otherSchedulings(document, registry);
  const vectors = vectorSources(document);
  const fixed = moveRefusal(document, hosts, registry);
  const [wish, setWish] = useState<Omit<ForkWish, "at_s">>({ load: "1.5", trouble: "none", host: hosts[0] ?? "" });
  const make = useMutation({
    mutationFn: () => post<Run>(`/api/runs/${run.id}/fork`, forkBody({ ...wish, at_s }, vectors)),
    onSuccess: (made) => {
      onMade();
      if (made.note) toast(made.note, { tone: "warn", seconds: 12 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/compare?runs=${run.id},${made.id}`);
    },
  });
  const settings = storeSettings(document);
  const load = loadIn(wish.load);
  const wrong = settings.find((name) => Number.isNaN(settingIn(wish.settings?.[name]) ?? 0));
  const whyLoad = load === null ? "A load is a number above 0; 1 keeps the load" : "";
  const why = whyLoad || (wrong ? `${STORE_SETTINGS[wrong].label} is a number; leave it empty to keep it` : "");
  const problem = make.error instanceof ApiError ? (make.error.problems[0]?.message ?? make.error.message) : make.error?.message;
  return (
    <form
      className="seed"
      aria-label={`Fork at ${at_s.toFixed(2)} s`}
      onSubmit={(event) => {
        event.preventDefault();
        if (!why && !make.isPending) make.mutate();
      }}
    >
      <p className="mut small">Same as this run up to {at_s.toFixed(2)} s, and then:</p>
      <div className={`field ${whyLoad ? "err" : ""}`}>
        <label htmlFor="fork-load">
          Load<i>of all sources</i>
        </label>
        <div className="in">
          <input
            id="fork-load"
            inputMode="decimal"
            value={wish.load}
            autoFocus
            aria-invalid={Boolean(whyLoad)}
            onChange={(event) => setWish({ ...wish, load: event.target.value })}
          />
          <span>× current</span>
        </div>
        {whyLoad && <p className="remark err">{whyLoad}</p>}
      </div>
      <Choice name="Fault" value={wish.trouble} options={Object.entries(TROUBLES)} onChoose={(trouble) => setWish({ ...wish, trouble: trouble as Trouble })} />
      {wish.trouble !== "none" && <Choice name="Host" value={wish.host} options={named(hosts)} onChoose={(host) => setWish({ ...wish, host })} />}
      <Choice
        name="Move"
        value={wish.mover ?? ""}
        options={[["", "No operator"], ...named(document.query.operators.map(({ id }) => id))]}
        refusal={fixed}
        means="The query stops, takes its state along, and restarts"
        onChoose={(mover) => setWish({ ...wish, mover, moveTo: wish.moveTo ?? hosts[0] })}
      />
      {wish.mover && (
        <Choice name="To host" value={wish.moveTo ?? ""} options={named(hosts)} onChoose={(moveTo) => setWish({ ...wish, moveTo })} />
      )}
      {schedulings.length > 0 && (
        <Choice
          name="Scheduler"
          value={wish.scheduling ?? ""}
          options={[["", "As in this run"], ...schedulings.map(({ kind, title }): Option => [kind, title ?? kind])]}
          onChoose={(scheduling) => setWish({ ...wish, scheduling })}
        />
      )}
      {vectors.length > 0 && (
        <Choice
          name="Vectors"
          value={wish.law ?? ""}
          options={[["", "As in this run"], ...named(LAWS)]}
          means={`The law of ${vectors.map(([id]) => id).join(" and ")} from then on`}
          onChoose={(law) => setWish({ ...wish, law })}
        />
      )}
      {settings.map((name) => (
        <div key={name} className={`field ${wrong === name ? "err" : ""}`}>
          <label htmlFor={`fork-${name}`}>
            {STORE_SETTINGS[name].label}
            <i>of stores</i>
          </label>
          <div className="in">
            <input
              id={`fork-${name}`}
              inputMode="decimal"
              placeholder="As in this run"
              value={wish.settings?.[name] ?? ""}
              aria-invalid={wrong === name}
              onChange={(event) => setWish({ ...wish, settings: { ...wish.settings, [name]: event.target.value } })}
            />
            <span>{STORE_SETTINGS[name].unit}</span>
          </div>
        </div>
      ))}
      {problem && <p className="remark err">{problem}</p>}
      <button className="btn primary" data-testid="fork-go" disabled={Boolean(why) || make.isPending} title={why || "Run it and overlay both"}>
        <Icon name="fork" />
        Fork and compare
      </button>
    </form>
  );
}

/** A value, and its text. */
type Option = [string, string];

/** Options that are called as what they stand for. */
const named = (values: readonly string[]) => values.map((value): Option => [value, value]);

/** A list to choose from, with its label. */
function Choice({
  name,
  value,
  options,
  refusal = "",
  means,
  onChoose,
}: {
  name: string;
  value: string;
  options: readonly Option[];
  /** Why nothing can be chosen; empty if it can. */
  refusal?: string;
  means?: string;
  onChoose: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <div className="in">
        <select
          id={id}
          value={value}
          disabled={Boolean(refusal)}
          title={refusal || means}
          onChange={({ target }) => onChoose(target.value)}
        >
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
