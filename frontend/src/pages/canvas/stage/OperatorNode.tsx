import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Problem } from "../../../api/types";
import { plural } from "../../../lib/format";
import { rememberLast } from "../../../lib/memo";
import { DEFAULT_PORT, instancesOf } from "../../../model/document/document";
import { summariseHosts } from "../../../model/document/hosts";
import { lookupOf } from "../../../model/document/lookup";
import { copiesOf } from "../../../model/document/queries";
import { problemsByPart, TONE_ICON, worstTone } from "../../../model/document/validate";
import { colourOf } from "../../../model/graph/colours";
import { inputType, portsOf, recordTypes, type RecordType } from "../../../model/graph/graph";
import { NODE, nodeHeight, PORT } from "../../../model/graph/layout";
import { WriteButton } from "../../../session/may";
import { Icon, iconOf } from "../../../ui/Icon";
import { changeParallelism } from "../commands";
import { drawnPlacement, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { isMovedBy } from "./placementWay";
import { isLarge, useIsFar } from "./scale";

// Every node asks these about the whole document; the answer is worked out once.
const typesOf = rememberLast(recordTypes);
const problemsOf = rememberLast(problemsByPart);

/** Record types of the open document, by output port. */
export function useRecordTypes(): Map<string, RecordType> {
  const document = useEditor((state) => state.document);
  const schemas = useEditor((state) => state.schemas);
  const { streamTitles } = useRegistry();
  return typesOf(document, schemas, streamTitles);
}

/** One operator: title, parallelism, typed ports, and where it stands. Of a large query seen from far away, its name alone. */
export const OperatorNode = memo(function OperatorNode({ id, selected }: NodeProps) {
  const operator = useEditor((state) => lookupOf(state.document).operators.get(id));
  const index = useEditor((state) => lookupOf(state.document).indices.get(id) ?? 0);
  const own = useEditor(useShallow((state) => problemsOf(state.problems, state.document).operators.get(id) ?? NO_PROBLEMS));
  const many = useEditor((state) => isLarge(state.document));
  const far = useIsFar() && many;
  const { kinds } = useRegistry();
  if (!operator) return null;
  const kind = kinds.get(operator.kind);
  const ports = portsOf(useEditor.getState().document, kind, id);
  const name = String((operator as { name?: string }).name || id);
  const worst = worstTone(own);
  return (
    <article
      className={`node ${selected ? "selected" : ""} ${worst} ${far ? "far" : ""}`}
      style={{ "--oc": colourOf(index), height: nodeHeight(ports) } as React.CSSProperties}
      data-testid={`operator-${id}`}
      data-problems={own.length}
    >
      {far ? (
        <b>{name}</b>
      ) : (
        <>
          <header>
            {worst ? (
              <span className="flagged" title={own[0]?.message}>
                <Icon name={TONE_ICON[worst]} />
              </span>
            ) : (
              <Icon name={iconOf(kind?.icon || operator.kind)} />
            )}
            <b className="ell" title={`${name}, ${kind?.title ?? operator.kind}`}>
              {name}
            </b>
            <Stepper id={id} value={instancesOf(operator)} />
          </header>
          <Ports id={id} inputs={ports.inputs} outputs={ports.outputs} />
          <Place id={id} />
        </>
      )}
    </article>
  );
});

const NO_PROBLEMS: Problem[] = [];

function Place({ id }: { id: string }) {
  const hosts = useEditor((state) => drawnPlacement(state)[id]);
  const isMoved = useEditor((state) => state.preview !== null && isMovedBy(state.preview, state.placement, id));
  const copies = useEditor((state) => copiesOf(state.document, id));
  return (
    <footer className={isMoved ? "moved" : ""} data-testid={`placed-${id}`}>
      <i className="sw" />
      <span className="ell">{hosts?.length ? summariseHosts(hosts) : "not placed"}</span>
      {copies !== undefined && (
        <span className="copies" title={`${plural(copies, "copy", "copies")} of its query`}>
          {copies}×
        </span>
      )}
    </footer>
  );
}

function Ports({ id, inputs, outputs }: { id: string; inputs: string[]; outputs: string[] }) {
  const document = useEditor((state) => state.document);
  const types = useRecordTypes();
  const incoming = inputs.map((port) => inputType(document, types, id, port));
  const outgoing = outputs.map((port) => types.get(`${id}.${port}`));
  return (
    <>
      <div className="ports">
        {Array.from({ length: Math.max(inputs.length, outputs.length) }, (_, row) => {
          const input = portLabel(inputs[row], inputs.length > 1, incoming[row]);
          const output = portLabel(outputs[row], outputs[row] !== DEFAULT_PORT.source, outgoing[row]);
          return (
            <div key={row}>
              <span className="ell">{input === output ? "" : input}</span>
              <span className="ell">{output}</span>
            </div>
          );
        })}
      </div>
      {inputs.map((port, row) => (
        <Port key={port} side="in" id={port} row={row} type={incoming[row]} of={id} />
      ))}
      {outputs.map((port, row) => (
        <Port key={port} side="out" id={port} row={row} type={outgoing[row]} of={id} />
      ))}
    </>
  );
}

/** A port shows what flows through it, or its own name where that tells more: its shape says the rest. */
const portLabel = (port: string | undefined, named: boolean, type: RecordType | undefined) =>
  port === undefined ? "" : named ? port.replaceAll("_", " ") : (type?.name ?? "");


/** A port; its shape says which record type flows there. */
function Port({ side, id, row, type, of }: { side: "in" | "out"; id: string; row: number; type: RecordType | undefined; of: string }) {
  const isDefault = id === (side === "in" ? DEFAULT_PORT.target : DEFAULT_PORT.source);
  return (
    <Handle
      type={side === "in" ? "target" : "source"}
      position={side === "in" ? Position.Left : Position.Right}
      id={id}
      className={`port shape-${type ? type.shape % 4 : 0} ${type ? "" : "untyped"}`}
      style={{ top: PORT.top - 1 + NODE.port * row }}
      title={`${isDefault ? (side === "in" ? "Input" : "Output") : `Port ${id}`}${type ? `: ${type.name}, ${type.schema.fields.length} fields, ${type.schema.bytes} B` : ""}`}
      data-testid={`port-${of}-${side}-${id}`}
    />
  );
}

/** Number of instances. The two buttons show on hover, focus or selection; the number itself is always there. */
function Stepper({ id, value }: { id: string; value: number }) {
  return (
    <span className="stepper nodrag nopan" title="Parallelism: number of instances">
      <WriteButton
        tabIndex={-1}
        aria-label={`One instance fewer of ${id}`}
        disabled={value <= 1}
        title={value <= 1 ? "The minimum is one instance" : undefined}
        onClick={() => changeParallelism([id], -1)}
      >
        <Icon name="minus" small />
      </WriteButton>
      <span data-testid={`parallelism-${id}`}>×{value}</span>
      <WriteButton tabIndex={-1} aria-label={`One instance more of ${id}`} onClick={() => changeParallelism([id], 1)}>
        <Icon name="plus" small />
      </WriteButton>
    </span>
  );
}
