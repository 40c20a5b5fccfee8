/** What the flow has selected or let go, as the editor's selection. */
import type { EdgeChange, NodeChange } from "@xyflow/react";
import { select, useEditor, type Selection } from "../editor";

type Changes = readonly (NodeChange | EdgeChange)[];

/** The selection with these changes; null when they change nothing. While anything of the query is selected, no host or fault is. */
export function selectionWith(selection: Selection, part: "operators" | "edges", changes: Changes): Partial<Selection> | null {
  const chosen = new Set(selection[part]);
  for (const change of changes) {
    if (change.type !== "select") continue;
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  const next = [...chosen];
  if (next.length === selection[part].length && next.every((id, at) => id === selection[part][at])) return null;
  const operators = part === "operators" ? next : selection.operators;
  const edges = part === "edges" ? next : selection.edges;
  const { host, fault } = selection;
  return operators.length || edges.length ? { operators, edges } : { host, fault };
}

/**
 * What the flow has selected or let go becomes the selection at once. Asked for afterwards, the flow would tell what it was given before,
 * and the two would take turns for ever.
 */
export function takeSelection(part: "operators" | "edges", changes: Changes): void {
  const next = selectionWith(useEditor.getState().selection, part, changes);
  if (next) select(next);
}
