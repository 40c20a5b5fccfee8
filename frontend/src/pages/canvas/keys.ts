/** The commands of the canvas with their keys. What is shown in a menu or a button is here too. */
import type { Command } from "../../session/commands";
import {
  copySelection,
  cutSelection,
  deleteSelection,
  duplicateSelection,
  goAlong,
  goToEdge,
  linkRegions,
  linkRegionsRefusal,
  paste,
  reconnectAround,
  selectAlong,
} from "./commands";
import { isEmpty, isShown, redo, searchPalette, select, showHistory, undo, useEditor, type DrawerTab, type InspectorTab } from "./editor";

const now = useEditor.getState;
const click = (command: string) => document.querySelector<HTMLButtonElement>(`[data-command="${command}"]`)?.click();
const someOperators = () => (now().selection.operators.length ? null : "Select an operator first.");
const someEdges = () => (now().document.query.edges.length ? null : "There are no edges yet.");
const something = () => (isEmpty(now().selection) ? "Select something first." : null);
const steps = (which: "pastStates" | "futureStates", why: string) => () => (useEditor.temporal.getState()[which].length ? null : why);
const showDrawer = (drawer: DrawerTab) => () => useEditor.setState({ drawer, drawerOpen: true });
const showTab = (tab: InspectorTab) => () => useEditor.setState({ tab, inspectorOpen: true, side: "inspector" });

const ARROWS = [
  ["ArrowLeft", "on the left"],
  ["ArrowRight", "on the right"],
  ["ArrowUp", "above"],
  ["ArrowDown", "below"],
] as const;

export const COMMANDS: readonly Command[] = [
  { group: "Edit", needs: "write", does: "Undo", keys: ["Ctrl+Z"], run: undo, refusal: steps("pastStates", "Nothing to undo.") },
  { group: "Edit", needs: "write", does: "Redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], run: redo, refusal: steps("futureStates", "Nothing to redo.") },
  { group: "Edit", needs: "write", does: "Cut operators", keys: ["Ctrl+X"], run: cutSelection, refusal: someOperators },
  { group: "Edit", does: "Copy operators", keys: ["Ctrl+C"], run: copySelection, refusal: someOperators },
  { group: "Edit", needs: "write", does: "Paste", keys: ["Ctrl+V"], run: pasteFromClipboard, byBrowser: true },
  { group: "Edit", needs: "write", does: "Duplicate", keys: ["Ctrl+D"], run: duplicateSelection, refusal: something },
  { group: "Edit", needs: "write", does: "Delete the selection", keys: ["Delete", "Backspace"], run: deleteSelection, refusal: something },
  {
    group: "Edit",
    needs: "write",
    does: "Delete operators and reconnect their neighbours",
    keys: ["Ctrl+Delete", "Ctrl+Backspace"],
    run: reconnectAround,
    refusal: someOperators,
  },
  { group: "Edit", needs: "write", does: "Connect the selected operator", keys: ["C"], run: () => focusInPanel("[data-connect]"), refusal: someOperators },
  { group: "Edit", needs: "write", does: "Place the selected operator", keys: ["P"], run: () => focusInPanel("[data-place]"), refusal: someOperators },
  { group: "Edit", needs: "write", does: "Link two regions", run: linkRegions, refusal: linkRegionsRefusal },
  { group: "Edit", needs: "write", does: "Auto-layout", keys: ["L"], run: () => click("layout") },
  {
    group: "Select",
    does: "Select all operators",
    keys: ["Ctrl+A"],
    run: () => select({ operators: now().document.query.operators.map((operator) => operator.id) }),
  },
  { group: "Select", does: "Clear the selection", keys: ["Escape"], run: () => select({}) },
  { group: "Select", does: "Select upstream", keys: ["U"], run: () => selectAlong("upstream"), refusal: someOperators },
  { group: "Select", does: "Select downstream", keys: ["D"], run: () => selectAlong("downstream"), refusal: someOperators },
  ...ARROWS.map(
    ([arrow, where]): Command => ({
      group: "Select",
      does: `Go to the operator ${where}`,
      keys: [`Ctrl+${arrow}`],
      run: () => goAlong(arrow),
    }),
  ),
  { group: "Select", does: "Select the next edge of the operator", keys: ["."], run: () => goToEdge(1), refusal: someEdges },
  { group: "Select", does: "Select the previous edge of the operator", keys: [","], run: () => goToEdge(-1), refusal: someEdges },
  { group: "Find", does: "Find on the canvas", keys: ["Ctrl+F"], run: () => announce("find"), whileTyping: true },
  { group: "Find", does: "Search the palette", keys: ["/"], run: searchPalette },
  { group: "View", does: "Fit the view", keys: ["Ctrl+1"], run: () => click("fit") },
  { group: "View", does: "Zoom in", keys: ["+", "="], run: () => click("zoom-in") },
  { group: "View", does: "Zoom out", keys: ["-"], run: () => click("zoom-out") },
  { group: "View", does: "Show the workload over time", keys: ["W"], run: showDrawer("workload") },
  { group: "View", does: "Show the faults", keys: ["F"], run: showDrawer("faults") },
  { group: "View", does: "Show the problems", keys: ["E"], run: showDrawer("problems") },
  { group: "View", does: "Show the workload's settings", run: showTab("workload") },
  { group: "View", does: "Show the policies", run: showTab("policies") },
  { group: "View", does: "Show the measurement", run: showTab("measurement") },
  { group: "View", does: "Show the history", keys: ["H"], run: () => showHistory(!isShown(now(), "history")) },
  { group: "View", does: "Collapse the drawer", keys: ["Ctrl+J"], run: () => useEditor.setState((state) => ({ drawerOpen: !state.drawerOpen })) },
  { group: "View", does: "Collapse the palette", keys: ["Ctrl+B"], run: () => useEditor.setState((state) => ({ paletteOpen: !state.paletteOpen })) },
  {
    group: "View",
    does: "Collapse the inspector",
    keys: ["Ctrl+I"],
    run: () => useEditor.setState((state) => ({ inspectorOpen: !state.inspectorOpen })),
  },
  { group: "Experiment", does: "Run", keys: ["Ctrl+Enter"], run: () => click("run"), whileTyping: true },
  {
    group: "Experiment",
    needs: "write",
    does: "Study this experiment",
    keys: ["Ctrl+Shift+Enter"],
    run: () => click("study"),
    whileTyping: true,
  },
];

/** A part of the page that is asked to take the focus listens for its own event. */
function announce(part: string): void {
  window.dispatchEvent(new Event(`millrace:${part}`));
}

/** Without a key the page has to ask for the clipboard; where it may not, what was copied in this browser is left. */
function pasteFromClipboard(): void {
  void (navigator.clipboard?.readText() ?? Promise.reject()).then(paste, () => paste());
}


/** Shows a field of the selected operator's panel, unfolds what hides it, and focuses it. */
function focusInPanel(selector: string): void {
  useEditor.setState({ tab: "selection", inspectorOpen: true, side: "inspector" });
  setTimeout(() => {
    const field = document.querySelector<HTMLElement>(selector);
    (field?.closest("[hidden]")?.previousElementSibling as HTMLElement | null)?.click();
    setTimeout(() => field?.focus());
  });
}
