import { SchemaForm } from "../../../ui/form/SchemaForm";
import type { PartProps } from "./part";

/** What runs the runs. */
export function ExecutionPart({ study, schema, problems, change }: PartProps) {
  return (
    <section className="panel editor-part" aria-label="Execution">
      <header className="part-head">
        <h2>Execution</h2>
      </header>
      <SchemaForm
        schema={schema.document}
        value={study.executor ? { executor: study.executor } : {}}
        pointer=""
        problems={problems}
        only={["executor"]}
        idPrefix="study-execution"
        onChange={(write) => change({ executor: write({}).executor === "spark" ? "spark" : "workers" })}
      />
    </section>
  );
}
