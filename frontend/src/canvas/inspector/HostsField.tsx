import { useEffect, useState } from "react";
import { placeOn, type Operator } from "../../model/document";
import { expandHosts } from "../../model/hosts";
import { escapePointer, problemsAt } from "../../model/validate";
import { Remarks } from "../../ui/form/fields";
import { edit, useEditor } from "../editor";

/** Explicit hosts as a list of names; the list cycles over the instances. Dropping the operator on a host does the same. */
export function HostsField({ operator }: { operator: Operator }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const placement = useEditor((state) => state.placement);
  const explicit = document.placement.kind === "explicit";
  const given = (explicit ? document.placement.hosts?.[operator.id] : undefined) ?? [...new Set(placement[operator.id] ?? [])];
  const [text, setText] = useState(given.join(", "));
  useEffect(() => setText(given.join(", ")), [given.join(", ")]); // eslint-disable-line react-hooks/exhaustive-deps -- the names, not the array
  const pointer = `/placement/hosts/${escapePointer(operator.id)}`;
  const names = expandHosts(document).map((host) => host.name);
  const commit = () => {
    const list = text
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    if (list.join() !== given.join()) edit((before) => placeOn(before, operator.id, list, placement));
  };
  return (
    <div className="field" data-pointer={pointer}>
      <label htmlFor="operator-hosts">
        Host names<i>cycle over the instances</i>
      </label>
      <div className="in">
        <input
          id="operator-hosts"
          data-place
          className="mono"
          value={text}
          spellCheck={false}
          placeholder={names.slice(0, 3).join(", ")}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit();
          }}
        />
      </div>
      <p>
        {explicit
          ? "Explicit placement. A host may stand in the list more than once."
          : `Placed by strategy '${document.placement.kind}'. An edit here, or dropping the operator on a host, makes the placement explicit.`}
      </p>
      <Remarks problems={problemsAt(problems, pointer)} />
    </div>
  );
}
