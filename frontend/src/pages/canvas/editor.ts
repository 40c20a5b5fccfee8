/** The open experiment: its document with undo, what is selected, and what the server says about it. */
import { temporal } from "zundo";
import { create } from "zustand";
import type { ExperimentDocument } from "../../api/document";
import type { ExperimentRecord, Json, RecordSchema, Saved, Validation } from "../../api/types";
import { coerceDocument } from "../../model/document/coerce";
import type { NamedProblem } from "../../model/document/naming";
import { localPlacement } from "../../model/document/placement";
import { regionLinksOf, regionOf } from "../../model/document/regions";
import { pointerParts, targetOf } from "../../model/document/validate";
import { changeAt, type Write } from "../../model/document/writes";
import { refusalNow } from "../../session/who";
import { toast } from "../../ui/toasts";
import { draftOf, dropDraft } from "./drafts";

export const UNDO_STEPS_MAX = 200;
/** Edits of one field closer together than this are one undo step. */
const TYPING_MS = 1200;

export type InspectorTab = "selection" | "workload" | "policies" | "measurement";
export type DrawerTab = "workload" | "faults" | "problems";
/** What stands at the right of the stage. */
export type Side = "inspector" | "history" | "advice";
export type SaveState = "saved" | "dirty" | "saving" | "failed" | "conflict";

export interface Selection {
  operators: string[];
  /** Edge keys. */
  edges: string[];
  /** Index of a host template. */
  host: number | null;
  /** Index of a link between regions. */
  regionLink: number | null;
  /** Index of a fault. */
  fault: number | null;
}

/** The dialog that is open; text: what an import begins with. */
export type CanvasDialog = { kind: "upload" } | { kind: "import"; text: string };

export const NOTHING: Selection = { operators: [], edges: [], host: null, regionLink: null, fault: null };

/** A placement that is drawn and not in the document. label: what the stage says of it. */
export interface Preview {
  hosts: Record<string, string[]>;
  label: string;
}

export interface Conflict {
  version: number;
  document: Json;
  saved: Saved;
}

export interface Editor {
  id: string;
  document: ExperimentDocument;
  version: number;
  save: SaveState;
  savedAt: Date | null;
  saveError: string;
  /** A newer version that was saved elsewhere, and by whom. */
  conflict: Conflict | null;

  problems: NamedProblem[];
  schemas: Record<string, RecordSchema>;
  placement: Record<string, string[]>;
  /** Drawn in place of the placement; any edit ends it. */
  preview: Preview | null;
  hash: string | null;
  /** Run was pressed: from then on, what is missing is wrong. */
  insists: boolean;
  /** The document that `problems` belongs to; another one means that validation is still under way. */
  validated: ExperimentDocument | null;

  selection: Selection;
  hovered: string | null;
  tab: InspectorTab;
  drawer: DrawerTab;
  drawerOpen: boolean;
  paletteOpen: boolean;
  inspectorOpen: boolean;
  /** Shown while `inspectorOpen`: others stand in the inspector's place. */
  side: Side;
  /** A JSON pointer whose field is to be shown and focused, with a count so that the same one can be asked for twice. */
  focus: { pointer: string; count: number } | null;
  /** How often the palette's search was asked for. */
  paletteAsked: number;
  /** Where the operator that is dragged would be placed. */
  landing: { operator: string; host: string } | null;
  /** Nodes that the stage is to bring into view, as a list of its own for each time. */
  revealed: string[];
  dialog: CanvasDialog | null;
}

const blank: Editor = {
  id: "",
  document: coerceDocument({}),
  version: 0,
  save: "saved",
  savedAt: null,
  saveError: "",
  conflict: null,
  problems: [],
  insists: false,
  schemas: {},
  placement: {},
  preview: null,
  hash: null,
  validated: null,
  selection: NOTHING,
  hovered: null,
  tab: "policies",
  drawer: "workload",
  drawerOpen: true,
  paletteOpen: true,
  inspectorOpen: true,
  side: "inspector",
  focus: null,
  paletteAsked: 0,
  landing: null,
  revealed: [],
  dialog: null,
};

export const useEditor = create<Editor>()(
  temporal(() => blank, {
    limit: UNDO_STEPS_MAX,
    partialize: (state) => ({ document: state.document }),
    equality: (past, now) => past.document === now.document,
  }),
);

const set = useEditor.setState;
const history = () => useEditor.temporal.getState();
let lastGroup = "";
let lastAt = 0;

/** Opens an experiment: no history, nothing selected, panels as they were. */
export function openExperiment(record: ExperimentRecord): void {
  const document = coerceDocument(record.document);
  const { drawerOpen, paletteOpen, inspectorOpen } = useEditor.getState();
  set({
    ...blank,
    drawerOpen,
    paletteOpen,
    inspectorOpen,
    id: record.id,
    document,
    version: record.version,
    problems: record.problems ?? [],
    savedAt: new Date(record.updated_at),
    placement: localPlacement(document),
  });
  history().clear();
  lastGroup = "";
  takeUpDraft(record);
}

/** Edits that were not saved last time go on where they ended; if somebody else saved meanwhile, as a conflict. */
function takeUpDraft(record: ExperimentRecord): void {
  const draft = draftOf(record.id);
  if (!draft || refusalNow()) return;
  if (JSON.stringify(draft.document) === JSON.stringify(coerceDocument(record.document))) return dropDraft(record.id);
  const conflict = draft.version === record.version ? null : { version: record.version, document: record.document, saved: record.saved };
  edit(() => draft.document);
  set({ version: draft.version, conflict, save: conflict ? "conflict" : "dirty" });
  if (!conflict) toast("Unsaved edits from last time were restored. Undo discards them.", { seconds: 10 });
}

/**
 * Changes the document: one undo step, unless `group` (a pointer, say) is that of the edit a moment ago.
 * A change that returns the same document does nothing.
 */
export function edit(change: (document: ExperimentDocument) => ExperimentDocument, group = ""): void {
  const why = refusalNow();
  if (why) return void toast(why, { tone: "warn" });
  const { document, placement } = useEditor.getState();
  const next = change(document);
  if (next === document) return;
  const now = Date.now();
  const goesOn = group !== "" && group === lastGroup && now - lastAt < TYPING_MS;
  lastGroup = group;
  lastAt = now;
  if (goesOn) history().pause();
  const save = useEditor.getState().conflict ? "conflict" : "dirty";
  set({ document: next, save, placement: localPlacement(next, placement), preview: null });
  if (goesOn) history().resume();
}

/** Changes what stands at a JSON pointer, as `edit` does. For the forms of the inspector. */
export const editAt =
  <Value>(pointer: string) =>
  (write: Write<Value>, group: string): void =>
    edit((document) => changeAt(document, pointerParts(pointer), (before) => write(before as Value | undefined)), group);

function step(direction: "undo" | "redo"): void {
  lastGroup = "";
  const { document } = useEditor.getState();
  history()[direction]();
  const after = useEditor.getState();
  if (after.document === document) return;
  const ids = new Set(after.document.query.operators.map((operator) => operator.id));
  set({
    save: after.conflict ? "conflict" : "dirty",
    placement: localPlacement(after.document, after.placement),
    preview: null,
    selection: {
      ...NOTHING,
      operators: after.selection.operators.filter((id) => ids.has(id)),
      regionLink: regionLinksOf(after.document)[after.selection.regionLink ?? -1] ? after.selection.regionLink : null,
      fault: after.document.faults?.[after.selection.fault ?? -1] ? after.selection.fault : null,
    },
  });
}

export const undo = () => step("undo");
export const redo = () => step("redo");

/** What stands at the side once this is left for the inspector. Suggestions stay: operators are pinned, and placed by hand, beside them. */
const leaving = (left: Side): Side => (useEditor.getState().side === left ? "inspector" : useEditor.getState().side);

export function select(selection: Partial<Selection>): void {
  set({
    selection: { ...NOTHING, ...selection },
    ...(isEmpty({ ...NOTHING, ...selection }) ? {} : { tab: "selection" as const, side: leaving("history") }),
  });
}

export const isEmpty = (selection: Selection) =>
  !selection.operators.length &&
  !selection.edges.length &&
  selection.host === null &&
  selection.regionLink === null &&
  selection.fault === null;

/** Brings operators, or groups of hosts, into view where they are not. */
export const reveal = (nodes: string[]) => set({ revealed: nodes });

/** Selects a link between regions and brings its regions into view. */
export function selectRegionLink(index: number): void {
  select({ regionLink: index });
  const { source, target } = regionLinksOf(useEditor.getState().document)[index] ?? {};
  reveal([source, target].map((region) => `hosts ${region}`));
}

/** Of problems about operators that are not there yet. */
const LACKS_OPERATORS = "/query/operators";

/** Unfolds the palette and focuses its search. */
export const searchPalette = () => set(({ paletteAsked }) => ({ paletteOpen: true, paletteAsked: paletteAsked + 1 }));

/** Selects the part that a pointer is about, opens its panel and asks for the focus on the field. */
export function goTo(pointer: string): void {
  const { document, focus } = useEditor.getState();
  const target = targetOf(pointer, document);
  if (target.part === "operator") {
    select({ operators: [target.id] });
    reveal([target.id]);
  }
  if (target.part === "edge") {
    select({ edges: [target.key] });
    reveal([target.source, target.target]);
  }
  if (target.part === "host") {
    select({ host: target.index });
    reveal(document.cluster.hosts.slice(target.index, target.index + 1).map((host) => `hosts ${regionOf(host)}`));
  }
  if (target.part === "region-link") selectRegionLink(target.index);
  if (target.part === "fault") select({ fault: target.index });
  if (target.part === "fault" || target.part === "faults") set({ drawer: "faults", drawerOpen: true });
  if (target.part === "document") select(NOTHING);
  if (pointer === LACKS_OPERATORS) return searchPalette();
  set({
    inspectorOpen: true,
    side: "inspector",
    focus: { pointer, count: (focus?.count ?? 0) + 1 },
    ...(target.part === "panel" ? { tab: target.tab } : { tab: "selection" as const }),
  });
}

export const showSide = (side: Side) => set(side === "inspector" ? { side } : { side, inspectorOpen: true });
export const showHistory = (open: boolean) => showSide(open ? "history" : "inspector");

/** Whether one that stands in the inspector's place is shown. */
export const isShown = ({ side, inspectorOpen }: Pick<Editor, "side" | "inspectorOpen">, which: Side) => inspectorOpen && side === which;

/** Where the stage draws instances: host names by operator. */
export const drawnPlacement = ({ preview, placement }: Pick<Editor, "preview" | "placement">) => preview?.hosts ?? placement;

/** Somebody wants to run what is not complete: shows why not. */
export function insist(problems: NamedProblem[] = useEditor.getState().problems): void {
  set({ insists: true, problems: problems.map(insisted), drawer: "problems", drawerOpen: true });
}

const insisted = (problem: NamedProblem): NamedProblem => ({ ...problem, missing: false });

export function applyValidation(document: ExperimentDocument, answer: Omit<Validation, "problems"> & { problems: NamedProblem[] }): void {
  set((state) => ({
    problems: state.insists ? answer.problems.map(insisted) : answer.problems,
    hash: answer.hash,
    validated: document,
    schemas: answer.schemas ?? {},
    placement: { ...localPlacement(document, state.placement), ...(answer.placement ?? {}) },
  }));
}
