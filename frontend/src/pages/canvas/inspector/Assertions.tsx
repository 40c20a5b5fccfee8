import { useState } from "react";
import { Link } from "react-router";
import type { Json, JsonSchema } from "../../../api/types";
import { assertionsOf, COMMON, withAssertion, type WrittenAssertion } from "../../../model/document/assertions";
import { schemaAt } from "../../../model/document/schema";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { edit, editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Section } from "./Section";
import "./editors";

const OWN = { name: "New assertion", check: "" };

const setAll = (all: WrittenAssertion[]) =>
  edit(({ assertions: _before, ...rest }) => ({ ...rest, ...(all.length ? { assertions: all as Json[] } : {}) }));

/** What should hold of the results, judged when a run ends. Common ones can be chosen to begin with. */
export function Assertions() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const [common, setCommon] = useState("");
  const all = assertionsOf(document);
  const list = schemaAt(root, ["assertions"]);
  const item = schemaAt(root, ["assertions", "*"]);
  const most = typeof list?.maxItems === "number" ? list.maxItems : Infinity;
  const full = all.length >= most;
  const add = () => {
    setAll(withAssertion(all, COMMON.find(({ name }) => name === common) ?? OWN));
    setCommon("");
  };
  return (
    <Section title="Assertions" summary={all.length ? String(all.length) : "none"}>
      {!all.length && (
        <p className="mut small">
          State what should hold of the results, such as a p99 latency below 1 s. Each run is judged when it ends, and the command line
          fails if an assertion does.
        </p>
      )}
      {item && all.map((one, at) => <Assertion key={at} one={one} at={at} all={all} item={item} />)}
      <Remarks problems={problems.filter((problem) => problem.pointer === "/assertions")} />
      <div className="add-assertion">
        <div className="in">
          <select aria-label="Common assertions" value={common} onChange={(event) => setCommon(event.target.value)}>
            <option value="">An assertion of your own</option>
            {COMMON.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
        <button className="btn" disabled={full} title={full ? `At most ${most} assertions` : "Add the chosen assertion"} onClick={add}>
          <Icon name="plus" small />
          Add assertion
        </button>
      </div>
      <p className="mut small">
        Names and units: <Link to="/help/measurements">Measurements</Link>, <Link to="/help/assertion_functions">functions</Link>
      </p>
    </Section>
  );
}

function Assertion({ one, at, all, item }: { one: WrittenAssertion; at: number; all: WrittenAssertion[]; item: JsonSchema }) {
  const problems = useEditor((state) => state.problems);
  const pointer = `/assertions/${at}`;
  return (
    <div className="assertion" data-pointer={pointer} data-testid={`assertion-${at}`}>
      <header>
        <span dir="auto">{one.name || `Assertion ${at + 1}`}</span>
        <button
          className="btn ghost icon"
          aria-label={`Remove ${one.name || `assertion ${at + 1}`}`}
          title="Remove"
          onClick={() => setAll(all.toSpliced(at, 1))}
        >
          <Icon name="cross" small />
        </button>
      </header>
      <SchemaForm
        schema={item}
        value={one as { [field: string]: Json }}
        pointer={pointer}
        problems={problems}
        onChange={editAt(pointer)}
      />
      <Remarks problems={problems.filter((problem) => problem.pointer === pointer)} />
    </div>
  );
}
