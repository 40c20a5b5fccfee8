import type { Json } from "../../../api/types";
import { rateSummary } from "../../../model/document/rates";
import { schemaAt } from "../../../model/document/schema";
import { WriteArea } from "../../../session/may";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { editAt, select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Section } from "./Section";

type Fields = { [field: string]: Json };

export function WorkloadPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root, kinds, streamTitles } = useRegistry();
  const schema = schemaAt(root, ["workload"]);
  const sources = document.query.operators.filter((operator) => (kinds.get(operator.kind)?.inputs.length ?? 1) === 0);
  const { sources: _sources, ...rest } = document.workload;
  return (
    <>
      <WriteArea className="form first">
        <Remarks problems={problems.filter((problem) => problem.pointer === "/workload" || problem.pointer === "/workload/sources")} />
        {schema && (
          <SchemaForm
            schema={schema}
            value={rest as Fields}
            pointer="/workload"
            problems={problems}
            omit={["sources"]}
            onChange={editAt("/workload")}
          />
        )}
      </WriteArea>
      <Section reads title="Sources" summary={String(sources.length)}>
        {!sources.length && <p className="mut small">No source yet. Drag one from the palette.</p>}
        {sources.map((operator) => {
          const workload = document.workload.sources[operator.id];
          return (
            <button key={operator.id} className="row" onClick={() => select({ operators: [operator.id] })}>
              <b className="ell">{operator.id}</b>
              <span className="ell">
                {workload?.stream
                  ? `${streamTitles.get(workload.stream.kind) ?? workload.stream.kind}, ${rateSummary(workload.rate)}`
                  : "no workload"}
              </span>
              <Icon name="right" small />
            </button>
          );
        })}
      </Section>
    </>
  );
}
