import { useEffect, useState } from "react";
import { Remarks } from "../../ui/form/fields";
import { edit, useEditor } from "../editor";

export function AboutPanel() {
  const document = useEditor((state) => state.document);
  const hash = useEditor((state) => state.hash);
  const problems = useEditor((state) => state.problems).filter(
    (problem) => problem.pointer === "" || ["/description", "/name", "/format", "/ui"].includes(problem.pointer),
  );
  const [text, setText] = useState(document.description ?? "");
  useEffect(() => setText(document.description ?? ""), [document.description]);
  return (
    <div className="form first">
      <Remarks problems={problems} />
      <p className="doc">Select an operator, an edge or a host to see and change it.</p>
      <div className="field" data-pointer="/description">
        <label htmlFor="description">
          Description<i>does not count for the hash</i>
        </label>
        <div className="in prose">
          <textarea
            id="description"
            rows={4}
            value={text}
            placeholder="What this experiment asks"
            onChange={(event) => setText(event.target.value)}
            onBlur={() => text !== (document.description ?? "") && edit((before) => ({ ...before, description: text }))}
          />
        </div>
      </div>
      <div className="field">
        <label>
          Hash<i>{hash ? "names the experiment" : "known when there is no error"}</i>
        </label>
        <p className="mono hash">{hash ?? "–"}</p>
      </div>
    </div>
  );
}
