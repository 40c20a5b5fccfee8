import { initialValue, schemaAt } from "../../model/schema";
import { problemsAt } from "../../model/validate";
import { Remarks } from "../../ui/form/fields";
import { SchemaForm } from "../../ui/form/SchemaForm";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

export function MeasurementPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const schema = schemaAt(root, ["measurement"]);
  return (
    <div className="form first">
      {schema && (
        <SchemaForm
          schema={schema}
          value={document.measurement ?? initialValue(schema)}
          pointer="/measurement"
          problems={problems}
          onChange={(measurement, path) => edit((before) => ({ ...before, measurement }), path)}
        />
      )}
      <Remarks problems={problemsAt(problems, "/backend")} />
    </div>
  );
}
