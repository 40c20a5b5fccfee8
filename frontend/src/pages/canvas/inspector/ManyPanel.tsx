import { plural } from "../../../lib/format";
import { WriteArea } from "../../../session/may";
import { Icon } from "../../../ui/Icon";
import { changeParallelism, deleteSelection, duplicateSelection } from "../commands";

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
