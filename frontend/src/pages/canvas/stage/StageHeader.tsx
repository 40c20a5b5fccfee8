import { useReactFlow } from "@xyflow/react";
import { plural } from "../../../lib/format";
import { WriteButton } from "../../../session/may";
import { Icon } from "../../../ui/Icon";
import { useEditor } from "../editor";
import { useRecordTypes } from "./OperatorNode";

const SHAPES = [
  <circle key="0" cx="5" cy="5" r="4" />,
  <rect key="1" x="1.2" y="1.2" width="7.6" height="7.6" />,
  <path key="2" d="M5 .2L9.8 5 5 9.8.2 5z" />,
  <path key="3" d="M1 9V5a4 4 0 0 1 8 0v4z" />,
];

/** Counts at the left; record types and the view's tools at the right. */
export function StageHeader({
  onFit,
  onArrange,
  isArranging,
  empty,
}: {
  onFit: () => void;
  onArrange: () => void;
  isArranging: boolean;
  empty: boolean;
}) {
  const query = useEditor((state) => state.document.query);
  const types = useRecordTypes();
  const flow = useReactFlow();
  const paletteOpen = useEditor((state) => state.paletteOpen);
  const inspectorOpen = useEditor((state) => state.inspectorOpen);
  const shown = [...new Map([...types.values()].map((type) => [type.shape, type])).values()].slice(0, 4);
  return (
    <div className="stage-head">
      <span className="lay still">
        Query{" "}
        <span>
          {plural(query.operators.length, "operator")}, {plural(query.edges.length, "edge")}
        </span>
      </span>
      <span className="grow" />
      <span className="key">
        {shown.map((type) => (
          <span key={type.shape} title={type.schema.fields.map((field) => `${field.name} ${field.type}`).join("\n")}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              {SHAPES[type.shape % 4]}
            </svg>
            {type.name}
          </span>
        ))}
      </span>
      <span className="tool">
        <PanelSwitch panel="palette" side="Left" keys="Ctrl+B" isOpen={paletteOpen} />
        <PanelSwitch panel="inspector" side="Right" keys="Ctrl+I" isOpen={inspectorOpen} />
      </span>
      <span className="tool">
        <button className="btn ghost icon" title="Zoom out" aria-label="Zoom out" data-command="zoom-out" onClick={() => void flow.zoomOut()}>
          <Icon name="minus" />
        </button>
        <button className="btn ghost icon" title="Zoom in" aria-label="Zoom in" data-command="zoom-in" onClick={() => void flow.zoomIn()}>
          <Icon name="plus" />
        </button>
        <button className="btn ghost icon" title="Fit (Ctrl+1)" aria-label="Fit" data-command="fit" onClick={onFit}>
          <Icon name="fit" />
        </button>
        <WriteButton
          className="btn ghost icon"
          title={empty ? "Auto-layout needs at least one operator" : isArranging ? "Stop the auto-layout (L)" : "Auto-layout (L)"}
          aria-label="Auto-layout"
          aria-pressed={isArranging}
          data-command="layout"
          disabled={empty}
          onClick={onArrange}
        >
          <Icon name="layout" />
        </WriteButton>
      </span>
    </div>
  );
}

/** Collapses or shows a side panel. */
function PanelSwitch({ panel, side, keys, isOpen }: { panel: "palette" | "inspector"; side: "Left" | "Right"; keys: string; isOpen: boolean }) {
  return (
    <button
      className={`btn ghost icon ${side === "Left" ? "flipped" : ""}`}
      title={`${isOpen ? "Collapse" : "Show"} the ${panel} (${keys})`}
      aria-label={`${side} panel`}
      aria-pressed={isOpen}
      onClick={() => useEditor.setState({ [`${panel}Open`]: !isOpen })}
    >
      <Icon name="panel" />
    </button>
  );
}
