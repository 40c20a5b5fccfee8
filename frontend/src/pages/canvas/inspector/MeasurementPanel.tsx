import type { Json, JsonSchema } from "../../../api/types";
import { definitionOf, furtherOf, withFurther, type Written } from "../../../model/document/latencies";
import { initialValue, schemaAt } from "../../../model/document/schema";
import { problemsAt } from "../../../model/document/validate";
import { WriteArea } from "../../../session/may";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { edit, editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Assertions } from "./Assertions";
import { Section } from "./Section";

type Fields = { [field: string]: Json };

export function MeasurementPanel() {
  const measurement = useEditor((state) => state.document.measurement);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const schema = schemaAt(root, ["measurement"]);
  if (!schema) return null;
  const { also: _also, ...rest } = measurement ?? initialValue(schema);
  return (
    <>
      <WriteArea className="form first">
        <SchemaForm
          schema={schema}
          value={rest}
          pointer="/measurement"
          problems={problems}
          omit={["also"]}
          onChange={(write, group) =>
            edit((before) => ({ ...before, measurement: write(before.measurement ?? initialValue(schema)) }), group)
          }
        />
        <Remarks problems={problemsAt(problems, "/backend")} />
      </WriteArea>
      <FurtherLatencies also={furtherOf(measurement)} />
      <Assertions />
    </>
  );
}

const setAlso = (also: Written[]) => edit((before) => ({ ...before, measurement: { ...before.measurement, also: also as Json[] } }));

/** Latencies that are measured beside the first: each under its own name. */
function FurtherLatencies({ also }: { also: Written[] }) {
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const list = schemaAt(root, ["measurement", "also"]);
  const item = schemaAt(root, ["measurement", "also", "*"]);
  const most = typeof list?.maxItems === "number" ? list.maxItems : Infinity;
  const full = also.length >= most;
  return (
    <Section title="Further latencies" summary={also.length ? String(also.length) : "none"}>
      {!also.length && (
        <p className="mut small">
          A run can measure latency by several definitions at once: from event time, from service at the source, against a deadline. Each
          has a name and appears beside the first in charts and files.
        </p>
      )}
      {item && also.map((one, at) => <FurtherLatency key={at} one={one} at={at} also={also} item={item} />)}
      <Remarks problems={problems.filter((problem) => problem.pointer === "/measurement/also")} />
      <button
        className="btn start"
        disabled={full}
        title={full ? `At most ${most} further latencies` : "Measure another latency"}
        onClick={() => setAlso(withFurther(also))}
      >
        <Icon name="plus" small />
        Add latency
      </button>
    </Section>
  );
}

function FurtherLatency({ one, at, also, item }: { one: Written; at: number; also: Written[]; item: JsonSchema }) {
  const problems = useEditor((state) => state.problems);
  const pointer = `/measurement/also/${at}`;
  return (
    <div className="latency" data-pointer={pointer} data-testid={`latency-${at}`}>
      <header>
        <span>{definitionOf(one)}</span>
        <button
          className="btn ghost icon"
          aria-label={`Remove ${one.name || `latency ${at + 2}`}`}
          title="Remove"
          onClick={() => setAlso(also.toSpliced(at, 1))}
        >
          <Icon name="cross" small />
        </button>
      </header>
      <SchemaForm
        schema={item}
        value={one as Fields}
        pointer={pointer}
        problems={problems}
        omit={one.from === "deadline" || one.to === "read" ? ["anchor"] : []}
        onChange={editAt(pointer)}
      />
      <Remarks problems={problems.filter((problem) => problem.pointer === pointer)} />
    </div>
  );
}
