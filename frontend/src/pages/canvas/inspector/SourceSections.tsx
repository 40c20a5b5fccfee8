import type { Operator, SourceWorkload } from "../../../api/document";
import { escapePointer, problemsAt } from "../../../model/document/validate";
import { WriteArea } from "../../../session/may";
import { KindForm } from "../../../ui/form/KindForm";
import { Remarks } from "../../../ui/form/Remarks";
import { editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";
import { Section } from "./Section";

const SOURCE_PARTS = [
  { name: "stream", label: "Stream", family: "streams", open: true },
  { name: "rate", label: "Rate", family: "rates", open: true },
  { name: "arrivals", label: "Arrivals", family: "arrivals", open: false },
  { name: "disorder", label: "Delay", family: "disorders", open: false },
  { name: "watermarks", label: "Watermarks", family: "watermarks", open: false },
  { name: "retention", label: "Retention", family: "retentions", open: false },
  { name: "generation", label: "Generation", family: "generations", open: false },
] as const;
/** Without an own choice the document's default holds: the family's first kind. */
const REQUIRED = ["stream", "rate"];

/** What a source reads: one section for each part of its workload, all forms from the registry. */
export function SourceSections({ operator, workload }: { operator: Operator; workload: SourceWorkload | undefined }) {
  const problems = useEditor((state) => state.problems);
  const { registry } = useRegistry();
  const pointer = `/workload/sources/${escapePointer(operator.id)}`;
  const own = problems.filter((problem) => problem.pointer === pointer);
  return (
    <>
      {own.length > 0 && (
        <WriteArea className="form first">
          <Remarks problems={own} />
        </WriteArea>
      )}
      {SOURCE_PARTS.map(({ name, label, family, open }) => {
        const kinds = registry[family] ?? [];
        const value = workload?.[name] ?? (REQUIRED.includes(name) ? undefined : kinds[0] && { kind: kinds[0].kind });
        const title = kinds.find((kind) => kind.kind === value?.kind)?.title ?? "choose";
        return (
          <Section key={name} title={label} summary={title} open={open || problemsAt(problems, `${pointer}/${name}`).length > 0}>
            <KindForm
              label={label}
              bare
              kinds={kinds}
              value={value}
              pointer={`${pointer}/${name}`}
              problems={problems}
              onChange={editAt(`${pointer}/${name}`)}
            />
          </Section>
        );
      })}
    </>
  );
}
