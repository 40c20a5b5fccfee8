import { WriteArea } from "../../../session/may";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Queries } from "./Queries";

const OWN = ["", "/name", "/format", "/ui"];

export function AboutPanel() {
  const document = useEditor((state) => state.document);
  const hash = useEditor((state) => state.hash);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  return (
    <>
      <WriteArea className="form first">
        <Remarks problems={problems.filter((problem) => OWN.includes(problem.pointer))} />
        <p className="doc">Select an operator, an edge or a host to view and edit it.</p>
        {root && (
          <SchemaForm
            schema={root}
            only={["description"]}
            value={{ description: document.description ?? "" }}
            pointer=""
            problems={problems}
            onChange={editAt("")}
          />
        )}
        <div className="field">
          <label>
            Hash<i>{hash ? "identifies the experiment" : "available once there are no errors"}</i>
          </label>
          <p className="mono hash">{hash ?? "–"}</p>
        </div>
      </WriteArea>
      <Queries />
    </>
  );
}
