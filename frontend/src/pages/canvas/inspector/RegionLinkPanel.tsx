import type { RegionLink } from "../../../api/document";
import type { Json } from "../../../api/types";
import { endsOf } from "../../../model/document/regions";
import { schemaAt } from "../../../model/document/schema";
import { WriteArea } from "../../../session/may";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { deleteSelection } from "../commands";
import { editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";

/** Latency and bandwidth from region to region. */
export function RegionLinkPanel({ link, index }: { link: RegionLink; index: number }) {
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const pointer = `/cluster/region_links/${index}`;
  const schema = schemaAt(root, ["cluster", "region_links", "*"]);
  return (
    <>
      <WriteArea className="form first">
        <p className="doc">Link {endsOf(link)}. All hosts of the regions have it, except for links from host to host (Policies, Network).</p>
        <Remarks problems={problems.filter((problem) => problem.pointer === pointer)} />
        {schema && (
          <SchemaForm
            schema={schema}
            value={link as { [field: string]: Json }}
            pointer={pointer}
            problems={problems}
            onChange={editAt(pointer)}
          />
        )}
      </WriteArea>
      <div className="actions">
        <button className="btn danger" onClick={deleteSelection} title="Delete (Delete)">
          <Icon name="trash" />
          Delete link
        </button>
      </div>
    </>
  );
}
