import type { Host } from "../../../api/document";
import type { Json } from "../../../api/types";
import { plural } from "../../../lib/format";
import { hostNames, summariseHosts } from "../../../model/document/hosts";
import { changeHost } from "../../../model/document/regions";
import { schemaAt, taggedDefault } from "../../../model/document/schema";
import { WriteArea } from "../../../session/may";
import { KindForm } from "../../../ui/form/KindForm";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { deleteSelection } from "../commands";
import { edit, editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import "./editors";

type Fields = { [field: string]: Json };

export function HostPanel({ host, index }: { host: Host; index: number }) {
  const problems = useEditor((state) => state.problems);
  const { registry, schema: root } = useRegistry();
  const pointer = `/cluster/hosts/${index}`;
  const schema = schemaAt(root, ["cluster", "hosts", "*"]);
  const own = problems.filter((problem) => problem.pointer === pointer);
  const { processor, memory, ...rest } = host;
  const processors = registry.processors ?? [];
  const memories = registry.memories ?? [];
  return (
    <>
      <WriteArea className="form first">
        <p className="doc">
          {hostNames(host).length === 1
            ? hostNames(host)[0]
            : `${summariseHosts(hostNames(host))}, ${plural(hostNames(host).length, "identical host")}`}
        </p>
        <Remarks problems={own} />
        {schema && (
          <SchemaForm
            key={index}
            schema={schema}
            value={rest as unknown as Fields}
            pointer={pointer}
            problems={problems}
            omit={["processor", "memory"]}
            onChange={(write, group) => edit((before) => changeHost(before, index, write), group)}
          />
        )}
        {processors.length > 0 && (
          <KindForm
            label="Processor"
            kinds={processors}
            value={processor ?? taggedDefault(schema, "processor")}
            pointer={`${pointer}/processor`}
            problems={problems}
            onChange={editAt(`${pointer}/processor`)}
          />
        )}
        {memories.length > 0 && (
          <KindForm
            label="Memory model"
            kinds={memories}
            value={memory ?? taggedDefault(schema, "memory")}
            pointer={`${pointer}/memory`}
            problems={problems}
            onChange={editAt(`${pointer}/memory`)}
          />
        )}
      </WriteArea>
      <div className="actions">
        <button className="btn danger" onClick={deleteSelection}>
          <Icon name="trash" />
          Delete {hostNames(host).length > 1 ? "these hosts" : "host"}
        </button>
      </div>
    </>
  );
}
