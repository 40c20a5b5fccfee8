/** What the keyboard, the menus and the buttons of the canvas do. */
import type { ExperimentDocument, Operator, Position, SourceWorkload } from "../../api/document";
import type { Kind, Tagged } from "../../api/types";
import { edgeKey, freeName, instancesOf, operatorOf } from "../../model/document/document";
import { addOperator, duplicateOperators, partOf, removeHost, removeParts } from "../../model/document/edits";
import { addFault, faultsOf, newFault, removeFault } from "../../model/document/faults";
import { expandHosts, freeHostName, hostNames } from "../../model/document/hosts";
import { lookupOf } from "../../model/document/lookup";
import { addRegionLink, regionLinksOf, regionOf, removeRegionLink, unlinkedRegions } from "../../model/document/regions";
import { initialValue } from "../../model/document/schema";
import { downstream, removeAndReconnect, upstream } from "../../model/graph/graph";
import { addSimilarityJoin } from "../../model/graph/similarity";
import { sortedRegions } from "../../model/graph/hostTiles";
import { freePlace, NODE, queryBounds } from "../../model/graph/layout";
import { edgeBeside, neighbourOf, type Arrow } from "../../model/graph/neighbours";
import { toast } from "../../ui/toasts";
import { edit, goTo, NOTHING, reveal, select, useEditor } from "./editor";

/** What is dragged out of the palette. */
export type PaletteItem =
  | { part: "operator"; kind: string }
  | { part: "source"; stream: Tagged; name: string; rate: Tagged; watermarks?: Tagged }
  | { part: "similarity join"; streams: 1 | 2 }
  | { part: "host"; group: string };

export const PALETTE_TYPE = "application/x-millrace";

function firstParallelism(document: ExperimentDocument): number {
  const last = document.query.operators.at(-1);
  return last && instancesOf(last) >= 1 ? instancesOf(last) : Math.max(1, Math.min(4, expandHosts(document).length));
}

/** A free place to the right of everything, for items that are added without dragging. */
function nextPlace(document: ExperimentDocument, kinds: Map<string, Kind>): Position {
  if (!document.query.operators.length) return { x: 0, y: 0 };
  const bounds = queryBounds(document, kinds);
  return { x: bounds.right + 84, y: bounds.top };
}

const snap = (value: number) => Math.round(value / 8) * 8;

/** Adds a palette item; `at` is where the pointer let it go, in the world's coordinates. */
export function addItem(item: PaletteItem, kinds: Map<string, Kind>, at?: Position): void {
  const { document } = useEditor.getState();
  if (item.part === "host") return addHostTemplate(item.group);
  if (item.part === "similarity join") return addStages(item.streams, kinds, at);
  const taken = document.query.operators.map((operator) => operator.id);
  const sourceKind = [...kinds.values()].find((kind) => !kind.inputs.length)?.kind ?? "source";
  const kind = item.part === "operator" ? item.kind : sourceKind;
  const id = freeName(item.part === "operator" ? item.kind : item.name, taken);
  const schema = kinds.get(kind)?.schema;
  const operator: Operator = { id, kind, parallelism: firstParallelism(document), params: schema ? initialValue(schema) : {} };
  const workload: SourceWorkload | undefined =
    item.part === "source"
      ? { stream: item.stream, rate: item.rate, ...(item.watermarks ? { watermarks: item.watermarks } : {}) }
      : undefined;
  const place = at
    ? freePlace(document, kinds, kind, { x: snap(at.x - NODE.width / 2), y: snap(at.y - NODE.header / 2) })
    : nextPlace(document, kinds);
  edit((before) => addOperator(before, operator, place, workload));
  select({ operators: [id] });
}

function addStages(streams: 1 | 2, kinds: Map<string, Kind>, at?: Position): void {
  const { document, schemas } = useEditor.getState();
  const place = at
    ? freePlace(document, kinds, "space_partitioner", { x: snap(at.x - NODE.width / 2), y: snap(at.y - NODE.header / 2) })
    : nextPlace(document, kinds);
  const workers = Math.max(2, Math.min(5, expandHosts(document).length));
  const [next, added] = addSimilarityJoin(document, place, workers, schemas, streams);
  edit(() => next);
  select({ operators: added.slice(-1) });
  reveal(added);
}

function addHostTemplate(group: string): void {
  const { document } = useEditor.getState();
  const name = freeHostName(group === "cloud" ? "w" : group, document.cluster.hosts);
  const like = document.cluster.hosts.findLast((host) => regionOf(host) === group);
  const host = {
    ...(like ?? { processor: { kind: "shared_fifo" }, cores: 1, speed: 1 }),
    name,
    group,
    ...(group === "cloud" ? { count: 4 } : { count: 1 }),
  };
  edit((before) => ({ ...before, cluster: { ...before.cluster, hosts: [...before.cluster.hosts, host] } }));
  select({ host: document.cluster.hosts.length });
}

/** Adds a link between two regions that have none, for which a latency or a bandwidth is still to be given. */
export function linkRegions(): void {
  const { document } = useEditor.getState();
  const ends = unlinkedRegions(document, sortedRegions(document));
  if (!ends) return;
  edit((before) => addRegionLink(before, { source: ends[0], target: ends[1] }));
  goTo(`/cluster/region_links/${regionLinksOf(document).length}/latency_ms`);
}

/** Why no two regions can be linked, or null. */
export function linkRegionsRefusal(): string | null {
  const { document } = useEditor.getState();
  const regions = sortedRegions(document);
  if (regions.length < 2) return "There is only one region. Give hosts another region first.";
  return unlinkedRegions(document, regions) ? null : "All regions are linked.";
}

export function addFaultOf(kind: Kind): void {
  edit((before) => addFault(before, newFault(kind, before)));
  select({ fault: faultsOf(useEditor.getState().document).length - 1 });
  useEditor.setState({ drawer: "faults", drawerOpen: true, inspectorOpen: true });
}

export function deleteSelection(): void {
  const { document, selection } = useEditor.getState();
  const host = selection.host === null ? undefined : document.cluster.hosts[selection.host];
  if (host && selection.host !== null) {
    const index = selection.host;
    edit((before) => removeHost(before, index, hostNames(host)));
  }
  const { fault, regionLink } = selection;
  if (regionLink !== null) edit((before) => removeRegionLink(before, regionLink));
  if (fault !== null) edit((before) => removeFault(before, fault));
  if (selection.operators.length || selection.edges.length) edit((before) => removeParts(before, selection.operators, selection.edges));
  select(NOTHING);
}

/** Deletes the selected operators and connects what they stood between. */
export function reconnectAround(): void {
  const { operators } = useEditor.getState().selection;
  edit((before) => removeAndReconnect(before, operators));
  select(NOTHING);
}

/** The selected operators, and all that feed them, or that they feed. */
export function selectAlong(direction: "upstream" | "downstream"): void {
  const { document, selection } = useEditor.getState();
  select({ operators: [...(direction === "upstream" ? upstream : downstream)(document, selection.operators)] });
}

/** Selects the next operator in a direction, or the end of the selected edge, brings it into view and gives it the focus. */
export function goAlong(arrow: Arrow): void {
  const { document, selection } = useEditor.getState();
  const edge = selection.operators.length ? undefined : lookupOf(document).edges.get(selection.edges[0] ?? "");
  const end = edge && (arrow === "ArrowLeft" ? edge.source : arrow === "ArrowRight" ? edge.target : null);
  if (end === null) return goToEdge(arrow === "ArrowDown" ? 1 : -1);
  const next = end ?? neighbourOf(document, selection.operators[0], arrow);
  if (next === null) return;
  select({ operators: [next] });
  reveal([next]);
  focusSoon(`.react-flow__node[data-id="${CSS.escape(next)}"]`);
}

/** Selects the next edge of the operator, or of the selected edge's source; its label gets the focus where there is one. */
export function goToEdge(step: 1 | -1): void {
  const { document, selection } = useEditor.getState();
  const next = edgeBeside(document, selection.operators[0], selection.operators.length ? undefined : selection.edges[0], step);
  if (!next) return;
  select({ edges: [edgeKey(next)] });
  reveal([next.source, next.target]);
  focusSoon(`.elab.selected[data-edge="${CSS.escape(edgeKey(next))}"]`);
}

/** The focus waits so many frames for what is only about to be drawn. */
const FOCUS_FRAMES_MAX = 20;

function focusSoon(selector: string, frames = FOCUS_FRAMES_MAX): void {
  requestAnimationFrame(() => {
    const element = window.document.querySelector<HTMLElement>(selector);
    if (element) element.focus();
    else if (frames > 0) focusSoon(selector, frames - 1);
  });
}

const CLIPBOARD_KEY = "millrace.clipboard";

const notLoaded = () => toast("A part of this page could not be loaded. Try again when the server can be reached.", { tone: "err" });

/** Reading and writing YAML is loaded when it is first needed. */
export function withFiles(use: (files: typeof import("../../model/document/files")) => void): void {
  void import("../../model/document/files").then(use, notLoaded);
}

/**
 * Copies operators, with the edges among them and their workload: as text for other programs and browsers, and for this browser also where
 * the page may not write to the system's clipboard.
 */
export function copySelection(): void {
  const { document, selection } = useEditor.getState();
  const { operators } = selection;
  if (!operators.length) return;
  // As JSON: what is pasted at once must have been written at once.
  const text = JSON.stringify(partOf(document, operators), null, 2);
  localStorage.setItem(CLIPBOARD_KEY, text);
  navigator.clipboard?.writeText(text).then(
    () => localStorage.removeItem(CLIPBOARD_KEY),
    () => undefined,
  );
  toast(`Copied ${operators.length === 1 ? operators[0] : `${operators.length} operators`}.`, { seconds: 2 });
}

export function cutSelection(): void {
  copySelection();
  deleteSelection();
}

/**
 * Takes what was copied here, or the text of a document from anywhere. Operators that were copied come in beside those that are there; a
 * whole document fills an empty canvas, and otherwise asks what should become of it.
 */
export async function paste(text = ""): Promise<void> {
  const given = localStorage.getItem(CLIPBOARD_KEY) ?? text;
  if (!given.trim()) return void toast("Nothing copied yet.", { seconds: 3 });
  const { id } = useEditor.getState();
  const reading = await import("./reading").catch(() => null);
  if (!reading) return void notLoaded();
  try {
    const from = await reading.documentIn(given);
    if (useEditor.getState().id !== id) return; // another experiment was opened while the server read the text
    const ids = from.query.operators.map((operator) => operator.id);
    if (!ids.length) throw new Error("It has no operators.");
    if (!from.cluster.hosts.length) addCopies(ids, from); // a document runs on hosts; operators that were copied come without
    else if (useEditor.getState().document.query.operators.length) useEditor.setState({ dialog: { kind: "import", text: given } });
    else takeDocument(from);
  } catch (error) {
    toast(`The copied content cannot be pasted here. ${error instanceof Error ? error.message : String(error)}`, { tone: "warn" });
  }
}

/** A document replaces the open one, as one undo step. */
export function takeDocument(document: ExperimentDocument): void {
  edit(() => document);
  select(NOTHING);
}

/** The operators of a document come in beside those that are there. */
export const takeOperators = (from: ExperimentDocument) => addCopies(from.query.operators.map((operator) => operator.id), from);

export function duplicateSelection(): void {
  const { selection, document } = useEditor.getState();
  if (selection.operators.length) addCopies(selection.operators, document);
  const fault = faultsOf(document)[selection.fault ?? -1];
  if (!fault || selection.fault === null) return;
  const at = selection.fault + 1;
  edit((before) => addFault(before, structuredClone(fault), at));
  select({ fault: at });
}

function addCopies(ids: string[], from: ExperimentDocument): void {
  let added: string[] = [];
  edit((document) => {
    const [next, names] = duplicateOperators(document, ids, from);
    added = names;
    return next;
  });
  select({ operators: added });
}

export function changeParallelism(ids: string[], step: number): void {
  edit(
    (document) =>
      ids.reduce((next, id) => {
        const operator = operatorOf(next, id);
        if (!operator) return next;
        const parallelism = Math.max(1, (Number(operator.parallelism) || 1) + step);
        return {
          ...next,
          query: { ...next.query, operators: next.query.operators.map((one) => (one.id === id ? { ...one, parallelism } : one)) },
        };
      }, document),
    `parallelism ${ids.join()}`,
  );
}
