import { Handle, Position, useUpdateNodeInternals, type NodeProps } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import type { Problem } from "../api/types";
import { DEFAULT_PORT, operatorOf } from "../model/document";
import { inputType, recordTypes, type RecordType } from "../model/graph";
import { summariseHosts } from "../model/hosts";
import { rememberLast } from "../model/memo";
import { isError, problemsByPart } from "../model/validate";
import { Icon, iconOf } from "../ui/Icon";
import { colourOf } from "./colours";
import { changeParallelism } from "./commands";
import { useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

const PORT_TOP = 38;
const PORT_STEP = 20;

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

/** One operator: title, parallelism, typed ports, and where it stands. */
export const OperatorNode = memo(function OperatorNode({ id, selected }: NodeProps) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const hosts = useEditor((state) => state.placement[id]);
  const types = useRecordTypes();
  const { kinds } = useRegistry();
  const operator = operatorOf(document, id);
  const own = problemsOf(problems, document).operators.get(id) ?? [];
  const kind = operator && kinds.get(operator.kind);
  // Ports change with the kind: the flow has to measure them again.
  const remeasure = useUpdateNodeInternals();
  const ports = kind ? [...kind.inputs, "|", ...kind.outputs].join() : "";
  const measured = useRef(ports);
  useEffect(() => {
    if (measured.current === ports) return;
    measured.current = ports;
    remeasure(id);
  }, [id, ports, remeasure]);
  if (!operator) return null;
  const inputs = kind?.inputs ?? [];
  const outputs = kind?.outputs ?? [];
  const index = document.query.operators.indexOf(operator);
  const name = String((operator as { name?: string }).name || id);
  const worst = worstOf(own);
  const inputLabel = (row: number) => portLabel(inputs[row], inputs.length > 1, inputType(document, types, id, inputs[row] ?? ""));
  const outputLabel = (row: number) => portLabel(outputs[row], outputs[row] !== DEFAULT_PORT.source, types.get(`${id}.${outputs[row]}`));
  return (
    <article
      className={`node ${selected ? "selected" : ""} ${worst}`}
      style={{ "--oc": colourOf(index) } as React.CSSProperties}
      data-testid={`operator-${id}`}
      data-problems={own.length}
    >
      <header>
        {worst ? (
          <span className="flagged" title={own[0]?.message}>
            <Icon name={worst === "err" ? "crossc" : "warn"} />
          </span>
        ) : (
          <Icon name={iconOf(kind?.icon || operator.kind)} />
        )}
        <b className="ell" title={`${name}, ${kind?.title ?? operator.kind}`}>
          {name}
        </b>
        <Stepper id={id} value={operator.parallelism} />
      </header>
      <div className="ports">
        {Array.from({ length: Math.max(inputs.length, outputs.length) }, (_, row) => {
          const [incoming, outgoing] = [inputLabel(row), outputLabel(row)];
          return (
            <div key={row}>
              <span className="ell">{incoming === outgoing ? "" : incoming}</span>
              <span className="ell">{outgoing}</span>
            </div>
          );
        })}
      </div>
      <footer>
        <i className="sw" />
        <span className="ell">{hosts?.length ? summariseHosts(hosts) : "not placed"}</span>
      </footer>
      {inputs.map((port, at) => (
        <Port key={port} side="in" id={port} index={at} type={inputType(document, types, id, port)} of={id} />
      ))}
      {outputs.map((port, at) => (
        <Port key={port} side="out" id={port} index={at} type={types.get(`${id}.${port}`)} of={id} />
      ))}
    </article>
  );
});

/** A port shows what flows through it, or its own name where that tells more: its shape says the rest. */
const portLabel = (port: string | undefined, named: boolean, type: RecordType | undefined) =>
  port === undefined ? "" : named ? port.replaceAll("_", " ") : (type?.name ?? "");

const worstOf = (problems: Problem[]) => (problems.some(isError) ? "err" : problems.length ? "warn" : "");

/** A port; its shape says which record type flows there. */
function Port({ side, id, index, type, of }: { side: "in" | "out"; id: string; index: number; type: RecordType | undefined; of: string }) {
  const isDefault = id === (side === "in" ? DEFAULT_PORT.target : DEFAULT_PORT.source);
  return (
    <Handle
      type={side === "in" ? "target" : "source"}
      position={side === "in" ? Position.Left : Position.Right}
      id={id}
      className={`port shape-${type ? type.shape % 4 : 0} ${type ? "" : "untyped"}`}
      style={{ top: PORT_TOP + PORT_STEP * index }}
      title={`${isDefault ? (side === "in" ? "Input" : "Output") : `Port ${id}`}${type ? `: ${type.name}, ${type.schema.fields.length} fields, ${type.schema.bytes} B` : ""}`}
      data-testid={`port-${of}-${side}-${id}`}
    />
  );
}

/** Number of instances. The two buttons show on hover, focus or selection; the number itself is always there. */
function Stepper({ id, value }: { id: string; value: number }) {
  return (
    <span className="stepper nodrag nopan" title="Parallelism: number of instances">
      <button tabIndex={-1} aria-label={`One instance less of ${id}`} disabled={value <= 1} onClick={() => changeParallelism([id], -1)}>
        <Icon name="minus" small />
      </button>
      <span data-testid={`parallelism-${id}`}>×{value}</span>
      <button tabIndex={-1} aria-label={`One instance more of ${id}`} onClick={() => changeParallelism([id], 1)}>
        <Icon name="plus" small />
      </button>
    </span>
  );
}
