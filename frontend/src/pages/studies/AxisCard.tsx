import { useId, useState } from "react";
import type { Json, JsonSchema, Kind, Problem, Tagged } from "../../api/types";
import { problemsAt } from "../../model/document/validate";
import { fieldsAt, newAxis, type Field } from "../../model/study/fields";
import { valueText, type Axis } from "../../model/study/study";
import { writeValues } from "../../model/study/values";
import { KindForm } from "../../ui/form/KindForm";
import { Remarks } from "../../ui/form/Remarks";
import { SchemaForm } from "../../ui/form/SchemaForm";
import { Icon } from "../../ui/Icon";
import { FieldPicker } from "./FieldPicker";

type Fields = { [field: string]: Json };

/** One axis: its fields with what stands there now, and the values that they take. */
export function AxisCard({
  axis,
  pointer,
  title,
  schema,
  kinds,
  fields,
  problems,
  onChange,
  onRemove,
}: {
  axis: Axis;
  /** JSON pointer of the axis in the study. */
  pointer: string;
  title: string;
  /** Of an axis. */
  schema: JsonSchema;
  kinds: Kind[];
  fields: readonly Field[];
  problems: Problem[];
  onChange: (axis: Axis) => void;
  onRemove?: () => void;
}) {
  const [picking, setPicking] = useState(false);
  const id = useId();
  const chosen = fieldsAt(fields, axis.fields ?? []);
  const [first] = chosen;
  const own = problems.filter((problem) => problem.pointer === pointer || problem.pointer === `${pointer}/fields`);
  const listed = axis.values?.kind === "list" && Array.isArray(axis.values.of) ? axis.values.of : null;
  const has = new Set((listed ?? []).map((one) => JSON.stringify(one)));
  const lacking = listed ? (first?.choices ?? []).filter((choice) => !has.has(JSON.stringify(choice))) : [];
  const take = (pointers: string[]) => {
    setPicking(false);
    // Values of an axis that had no field yet begin with what stands there.
    onChange(axis.fields.length ? { ...axis, fields: pointers } : { ...newAxis(fieldsAt(fields, pointers), []), name: axis.name });
  };
  return (
    <section className="axis" data-pointer={pointer} aria-label={title} data-testid={`axis-${axis.name}`}>
      <header>
        <h3>{title}</h3>
        <span className="grow" />
        {onRemove && (
          <button className="btn ghost icon" aria-label={`Remove ${title}`} title="Remove this axis" onClick={onRemove}>
            <Icon name="trash" />
          </button>
        )}
      </header>
      <div className="axis-parts">
        <div>
          <div className="field" data-pointer={`${pointer}/fields`}>
            <label htmlFor={id}>Fields</label>
            <ul className="chosen-fields">
              {chosen.map((field, at) => (
                <li
                  key={field.pointer}
                  data-pointer={`${pointer}/fields/${at}`}
                  title={[field.pointer, field.description].filter(Boolean).join("\n")}
                >
                  <span className="ell">
                    <b>{field.label}</b> <span className="mut">{field.path.join(" / ")}</span>
                  </span>
                  <span className="now">
                    {valueText(field.value)} {field.unit && <i>{field.unit}</i>}
                  </span>
                  <button
                    className="btn ghost icon"
                    aria-label={`Remove ${field.label}`}
                    title="Remove from the axis"
                    onClick={() => onChange({ ...axis, fields: axis.fields.filter((one) => one !== field.pointer) })}
                  >
                    <Icon name="cross" small />
                  </button>
                  <Remarks problems={problemsAt(problems, `${pointer}/fields/${at}`)} />
                </li>
              ))}
            </ul>
            {axis.also_multiplied?.map((other, at) => (
              <p key={other} className="remark" data-pointer={`${pointer}/also_multiplied/${at}`} title={other}>
                <Icon name="info" small />
                <span>
                  <b>{fieldsAt(fields, [other])[0]?.label ?? other}</b> is scaled by the same value{" "}
                  <button
                    className="link"
                    onClick={() => onChange({ ...axis, also_multiplied: axis.also_multiplied?.filter((one) => one !== other) })}
                  >
                    do not scale it
                  </button>
                </span>
              </p>
            ))}
            <button id={id} className="btn" onClick={() => setPicking(true)}>
              <Icon name="plus" small />
              {chosen.length ? "Choose fields" : "Choose a field"}
            </button>
            <Remarks problems={own} />
          </div>
          <SchemaForm
            schema={schema}
            value={{ name: axis.name, ...(axis.multiply === undefined ? {} : { multiply: axis.multiply }) }}
            pointer={pointer}
            problems={problems}
            only={["name", "multiply"]}
            onChange={(write) => onChange(write(axis as unknown as Fields) as unknown as Axis)}
          />
        </div>
        <div>
          <KindForm
            label="Values"
            kinds={kinds}
            value={axis.values}
            pointer={`${pointer}/values`}
            problems={problems}
            onChange={(write) => onChange({ ...axis, values: fitting(axis.values, write(axis.values), first) })}
          />
          {lacking.length > 0 && (
            <div className="field-chips" role="group" aria-label="Values that can be added">
              {lacking.map((choice) => (
                <button
                  key={writeValues([choice])}
                  type="button"
                  title={writeValues([choice])}
                  onClick={() => onChange({ ...axis, values: { kind: "list", of: [...(listed ?? []), choice] } })}
                >
                  + {nameOf(choice)}
                </button>
              ))}
            </div>
          )}
        </div>
      </div>
      {picking && <FieldPicker fields={fields} chosen={axis.fields} onChoose={take} onClose={() => setPicking(false)} />}
    </section>
  );
}

const COUNT = 5;

/** A kind that was just chosen gets numbers to begin with: the ends of what was there. */
function fitting(before: Tagged, next: Tagged, field: Field | undefined): Tagged {
  if (next.kind === before.kind) return next;
  const of = Array.isArray(before.of) ? before.of.filter((one): one is number => typeof one === "number") : [];
  const ends = [before.from, before.to].filter((one): one is number => typeof one === "number");
  const all = of.length ? of : ends.length ? ends : typeof field?.value === "number" ? [field.value, 2 * field.value] : [1, 2];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  if (next.kind === "list") return { kind: "list", of: (next.of as Json) ?? all };
  const fitted: Tagged = { ...next, from: next.from ?? least, to: next.to ?? most };
  if (next.kind !== "between") fitted.count = next.count ?? COUNT;
  if (field?.type === "integer") fitted.whole = true;
  return fitted;
}

/** Of settings their kind, since their fields are as they are by default; the hint has them. */
function nameOf(choice: Json): string {
  const kind = typeof choice === "object" && choice !== null && !Array.isArray(choice) ? choice.kind : null;
  return valueText(typeof kind === "string" ? kind.replace(/_/g, " ") : choice);
}
