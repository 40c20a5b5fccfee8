/** The canvas's keys, in one list: it is what `?` shows and what the listener obeys. */
import { copySelection, deleteSelection, duplicateSelection, paste } from "./commands";
import { redo, select, undo, useEditor } from "./editor";

export interface Command {
  keys: string;
  does: string;
  run: () => void;
}

const click = (command: string) => document.querySelector<HTMLButtonElement>(`[data-command="${command}"]`)?.click();

export const COMMANDS: Command[] = [
  { keys: "Ctrl+Z", does: "Undo", run: undo },
  { keys: "Ctrl+Shift+Z", does: "Redo", run: redo },
  { keys: "Ctrl+Y", does: "Redo", run: redo },
  { keys: "Ctrl+C", does: "Copy operators", run: copySelection },
  { keys: "Ctrl+V", does: "Paste", run: paste },
  { keys: "Ctrl+D", does: "Duplicate", run: duplicateSelection },
  {
    keys: "Ctrl+A",
    does: "Select all operators",
    run: () => select({ operators: useEditor.getState().document.query.operators.map((operator) => operator.id) }),
  },
  { keys: "Delete", does: "Delete what is selected", run: deleteSelection },
  { keys: "Backspace", does: "Delete what is selected", run: deleteSelection },
  { keys: "Escape", does: "Select nothing", run: () => select({}) },
  { keys: "/", does: "Search the palette", run: searchPalette },
  { keys: "C", does: "Connect the selected operator", run: connect },
  { keys: "F", does: "Show the faults", run: () => useEditor.setState({ drawer: "faults", drawerOpen: true }) },
  { keys: "L", does: "Auto-layout", run: () => click("layout") },
  { keys: "Ctrl+1", does: "Fit the view", run: () => click("fit") },
  { keys: "Ctrl+J", does: "Fold the drawer", run: () => useEditor.setState((state) => ({ drawerOpen: !state.drawerOpen })) },
  { keys: "Ctrl+B", does: "Fold the palette", run: () => useEditor.setState((state) => ({ paletteOpen: !state.paletteOpen })) },
  { keys: "Ctrl+I", does: "Fold the inspector", run: () => useEditor.setState((state) => ({ inspectorOpen: !state.inspectorOpen })) },
  { keys: "Ctrl+Enter", does: "Run", run: () => click("run") },
];

/** Focuses the search at once, so that what is typed next lands in it; a folded palette has to be drawn first. */
function searchPalette(): void {
  const focus = () => window.dispatchEvent(new Event("millrace:search-palette"));
  if (useEditor.getState().paletteOpen) return void focus();
  useEditor.setState({ paletteOpen: true });
  setTimeout(focus);
}

function connect(): void {
  useEditor.setState({ tab: "selection", inspectorOpen: true });
  setTimeout(() => {
    const field = document.querySelector<HTMLSelectElement>("[data-connect]");
    (field?.closest("[hidden]")?.previousElementSibling as HTMLElement | null)?.click();
    setTimeout(() => field?.focus());
  });
}

export function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const modified = event.ctrlKey || event.metaKey;
  return `${modified ? "Ctrl+" : ""}${event.shiftKey && (modified || key.length > 1) ? "Shift+" : ""}${key}`;
}

/** Keys belong to a field while it has the focus, and to a dialog while one is open. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest("dialog") !== null)
  );
}

export function onCanvasKey(event: KeyboardEvent): void {
  if (isTyping(event.target) && !(event.ctrlKey && event.key === "Enter")) return;
  const command = COMMANDS.find((one) => one.keys === nameOf(event));
  if (!command) return;
  event.preventDefault();
  command.run();
}
