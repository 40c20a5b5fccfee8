import { plural } from "../../../lib/format";
import { WriteArea } from "../../../session/may";
import { Icon } from "../../../ui/Icon";
import { nameAsQuery } from "../../../model/document/queries";
import { changeParallelism, deleteSelection, duplicateSelection } from "../commands";
import { edit, goTo, useEditor } from "../editor";

/** The operators become a query, whose form is shown. */
function nameSelection(ids: string[]): void {
  edit((before) => nameAsQuery(before, ids));
  goTo(`/query/queries/${(useEditor.getState().document.query.queries?.length ?? 1) - 1}/name`);
}

export function ManyPanel({ ids }: { ids: string[] }) {
  return (
    <WriteArea className="form first">
      <p className="doc">
        {plural(ids.length, "operator")} selected: {ids.join(", ")}
      </p>
      <div className="two">
        <button className="btn" onClick={() => changeParallelism(ids, -1)}>
          <Icon name="minus" />
          Instance
        </button>
        <button className="btn" onClick={() => changeParallelism(ids, 1)}>
          <Icon name="plus" />
          Instance
        </button>
      </div>
      <button className="btn start" onClick={() => nameSelection(ids)} title="A query is measured by itself, and may run in copies">
        <Icon name="copy" />
        Name as query
      </button>
      <div className="two">
        <button className="btn" onClick={duplicateSelection}>
          <Icon name="copy" />
          Duplicate
        </button>
        <button className="btn danger" onClick={deleteSelection}>
          <Icon name="trash" />
          Delete
        </button>
      </div>
    </WriteArea>
  );
}
