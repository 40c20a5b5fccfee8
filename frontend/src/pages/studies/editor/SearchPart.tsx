import { useMemo } from "react";
import type { Json, Tagged } from "../../../api/types";
import { partOf, upTo } from "../../../model/study/draft";
import { loadAxis, type Field } from "../../../model/study/fields";
import { loadOf } from "../../../model/study/study";
import { KindForm } from "../../../ui/form/KindForm";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { AxisCard } from "../AxisCard";
import type { PartProps } from "./part";

type Fields = { [field: string]: Json };

/** The search for the largest sustainable load, if there is one. */
export function SearchPart({ study, schema, problems, change, fields }: PartProps & { fields: Field[] }) {
  const load = loadOf(study);
  const axisSchema = useMemo(() => partOf(schema.document, "Axis"), [schema]);
  return (
    <section className="panel editor-part" aria-label="Search">
      <header className="part-head">
        <h2>Search</h2>
        <span className="mut small">At each point, the highest load the system can sustain.</span>
      </header>
      <KindForm
        label="Search"
        bare
        kinds={schema.searches}
        value={(study.search as Tagged | undefined) ?? { kind: "none" }}
        pointer="/search"
        problems={problems.map(upTo("/search/shares"))}
        omit={["load", "sustained"]}
        onChange={(write) => {
          const search = write(study.search as Tagged | undefined);
          change({ search: search.kind === "sustainable" && !("load" in search) ? { ...search, start: "bottom", load: loadAxis(fields) } : search });
        }}
      />
      {load && study.search && (
        <>
          <AxisCard
            axis={load}
            pointer="/search/load"
            title="Load"
            schema={axisSchema}
            kinds={schema.values.filter(({ kind }) => kind === "between")}
            fields={fields}
            problems={problems}
            onChange={(next) => study.search && change({ search: { ...study.search, load: next } })}
          />
          <details className="verdict-limits">
            <summary>When a load counts as sustained</summary>
            <SchemaForm
              schema={partOf(schema.document, "Sustained")}
              value={(study.search.sustained as Fields | undefined) ?? {}}
              pointer="/search/sustained"
              problems={problems}
              onChange={(write) => {
                const { search } = study;
                if (search) change({ search: { ...search, sustained: write(search.sustained as Fields | undefined) } });
              }}
            />
          </details>
        </>
      )}
    </section>
  );
}
