import { useReactFlow } from "@xyflow/react";
import { useState, type DragEvent } from "react";
import { type Hardware, SHORE } from "../../../model/graph/hardware";
import { addItem, PALETTE_TYPE, type PaletteItem } from "../commands";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** What is dragged from the palette and dropped on the stage becomes an operator there; below the waterline, just above it. */
export function usePaletteDrop(hardware: Hardware) {
  const flow = useReactFlow();
  const { kinds } = useRegistry();
  const [isOver, setOver] = useState(false);

  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(PALETTE_TYPE)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    setOver(true);
  };
  const onDragLeave = () => setOver(false);
  const onDrop = (event: DragEvent) => {
    const text = event.dataTransfer.getData(PALETTE_TYPE);
    setOver(false);
    if (!text) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const empty = !useEditor.getState().document.query.operators.length;
    addItem(
      JSON.parse(text) as PaletteItem,
      kinds,
      at.y > hardware.waterline && !empty ? { x: at.x, y: hardware.waterline - SHORE - 60 } : at,
    );
  };
  return { isOver, drop: { onDragOver, onDragLeave, onDrop } };
}
