import { useMemo } from "react";
import type { Kind } from "../../../api/types";
import { complete, partOf } from "../../../model/study/draft";
import type { Field } from "../../../model/study/fields";
import { isDrawn, isOptimised, type Axis } from "../../../model/study/study";
import { KindForm } from "../../../ui/form/KindForm";
import { Remarks } from "../../../ui/form/Remarks";
import { Icon } from "../../../ui/Icon";
import { AxisCard } from "../AxisCard";
import { MetricNames } from "../MetricEditor";
import type { PartProps } from "./part";
import { WhichEngine } from "./WhichEngine";

/** The axes, and how points are chosen on them. */
export function VariedPart({
  study,
  schema,
  problems,
  change,
  fields,
  measured,
  engines,
  onAdd,
}: PartProps & {
  /** What of the experiment can be varied. */
  fields: Field[];
  /** What a search can be for: axes and metrics. */
  measured: string[];
  engines: readonly Kind[];
  onAdd: () => void;
}) {
  const axes = study.axes ?? [];
  const axisSchema = useMemo(() => partOf(schema.document, "Axis"), [schema]);
  const draws = isDrawn(study);
  const valueKinds = schema.values.filter(({ kind }) => kind !== "between" || draws);
  const setAxis = (at: number, axis: Axis) => change({ axes: axes.map((one, index) => (index === at ? axis : one)) });
  return (
    <section className="panel editor-part" aria-label="Parameters" data-pointer="/axes">
      <header className="part-head">
        <h2>Parameters</h2>
        <span className="mut small">Each axis sets fields of the experiment to its values, one after the other.</span>
        <span className="grow" />
        <WhichEngine study={study} fields={fields} engines={engines} change={change} />
        <button className="btn" onClick={onAdd} data-command="add-axis" data-testid="add-axis" title="Add an axis (A)">
          <Icon name="plus" small />
          Add an axis
        </button>
      </header>
      <Remarks problems={problems.filter(({ pointer }) => pointer === "/axes")} />
      {!axes.length && <p className="mut small">No axis yet. Without one, the experiment runs unchanged, once with each seed.</p>}
      {axes.map((axis, at) => (
        <AxisCard
          key={at}
          axis={axis}
          pointer={`/axes/${at}`}
          title={`Axis ${at + 1}`}
          schema={axisSchema}
          kinds={axis.values?.kind === "between" ? schema.values : valueKinds}
          fields={fields}
          problems={problems}
          onChange={(next) => setAxis(at, next)}
          onRemove={() => change({ axes: axes.filter((_, index) => index !== at) })}
        />
      ))}
      {axes.length > 0 && (
        <div className={`design ${isOptimised(study) ? "wide" : ""}`} data-pointer="/design">
          <MetricNames value={measured}>
            <KindForm
              label="Design"
              kinds={schema.designs}
              value={study.design ?? { kind: "grid" }}
              pointer="/design"
              problems={problems}
              onChange={(write) => change({ design: complete(write(study.design)) })}
            />
          </MetricNames>
        </div>
      )}
    </section>
  );
}
