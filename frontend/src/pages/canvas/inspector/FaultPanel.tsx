import type { Tagged } from "../../../api/types";
import { faultsOf, newFault, replaceFault } from "../../../model/document/faults";
import { expandHosts } from "../../../model/document/hosts";
import type { Write } from "../../../model/document/writes";
import { WriteArea } from "../../../session/may";
import { KindForm } from "../../../ui/form/KindForm";
import { Icon } from "../../../ui/Icon";
import { deleteSelection, duplicateSelection } from "../commands";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";

/** One fault: its kind, and that kind's own form. Hosts can be picked from those of the cluster. */
export function FaultPanel({ fault, index }: { fault: Tagged; index: number }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { registry } = useRegistry();
  const kinds = registry.faults ?? [];
  const hosts = expandHosts(document).map((host) => ({ name: host.name, type: host.group }));
  const change = (write: Write<Tagged>, group: string) =>
    edit((before) => {
      const was = faultsOf(before)[index];
      const value = write(was);
      const kind = kinds.find((one) => one.kind === value.kind);
      // Another kind begins with what it needs, and keeps what both have.
      return replaceFault(before, index, kind && value.kind !== was?.kind ? newFault(kind, before, value) : value);
    }, group);
  return (
    <>
      <WriteArea className="form first">
        <KindForm
          label="Fault"
          kinds={kinds}
          value={fault}
          pointer={`/faults/${index}`}
          problems={problems}
          records={{ hosts }}
          onChange={change}
        />
      </WriteArea>
      <div className="actions">
        <button className="btn" onClick={duplicateSelection} title="Duplicate (Ctrl+D)">
          <Icon name="copy" />
          Duplicate
        </button>
        <button className="btn danger" onClick={deleteSelection} title="Delete (Delete)">
          <Icon name="trash" />
          Delete
        </button>
      </div>
    </>
  );
}
