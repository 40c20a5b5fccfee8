import { Link } from "react-router";
import { experimentName } from "../../../model/study/draft";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import type { PartProps } from "./part";

/** What the study is called, and of which experiment it is. */
export function NamePart({ study, schema, problems, change, experiment }: PartProps & { experiment: string | null }) {
  const named = { name: study.name ?? "", ...(study.description ? { description: study.description } : {}) };
  return (
    <section className="panel editor-part" aria-label="Name">
      <SchemaForm
        schema={schema.document}
        value={named}
        pointer=""
        problems={problems}
        only={["name", "description"]}
        idPrefix="study"
        onChange={(write) => change({ name: "", description: "", ...write(named) })}
      />
      <p className="mut small">
        Of{" "}
        {experiment ? <Link to={`/experiments/${experiment}`}>{experimentName(study)}</Link> : <b>{experimentName(study)}</b>}, as it
        is now; the study keeps a copy of it.
      </p>
      <Remarks problems={problems.filter(({ pointer }) => pointer === "" || pointer === "/experiment")} />
    </section>
  );
}
