/** The canvas as a picture of its own: SVG with the colours of the theme on show. */
import type { ExperimentDocument, Operator } from "../../api/document";
import type { Kind, RecordSchema } from "../../api/types";
import { DEFAULT_PORT, instancesOf } from "../document/document";
import { describeHost, instancesByHost, summariseHosts } from "../document/hosts";
import { isWithin, limitsOf, regionLinksOf } from "../document/regions";
import { OPERATOR_COLOURS } from "./colours";
import { waysOf } from "./edgeWay";
import { inputType, partitioningLabel, recordTypes } from "./graph";
import { BROKER_WIDTH, brokerOf } from "./broker";
import { boxOf, hardwareOf } from "./hardware";
import { SLOT, slotsOn, specOn, TILE } from "./hostTiles";
import { NODE, nodeHeight, PORT, positionsOf } from "./layout";

const MARGIN = 32;
const GAP = 8;
/** Letters that fit, by their mean width. */
const fitting = (text: string, width: number, letter: number) => {
  const most = Math.max(1, Math.floor(width / letter));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
};

export interface Drawn {
  document: ExperimentDocument;
  kinds: Map<string, Kind>;
  placement: Record<string, string[]>;
  schemas: Record<string, RecordSchema>;
  streamTitles: Map<string, string>;
}

/** Text as XML takes it, which knows no control characters. */
const escaped = (text: string) => text.replace(/\p{Cc}/gu, " ").replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** colour: what a token of the theme is now. */
export function svgOf(drawn: Drawn, colour: (token: string) => string): { svg: string; width: number; height: number } {
  const { document, kinds, placement, schemas, streamTitles } = drawn;
  const hardware = hardwareOf(document, kinds);
  const positions = positionsOf(document);
  const types = recordTypes(document, schemas, streamTitles);
  const broker = brokerOf(document);
  const drawing = boxOf(hardware);
  const besideHosts = Math.max(...hardware.groups.map((one) => one.x + one.width)) + GAP;
  if (broker) drawing.width = Math.max(drawing.width, besideHosts + BROKER_WIDTH - drawing.x);
  const [left, top] = [drawing.x - MARGIN, drawing.y - MARGIN];
  const [width, height] = [drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN];
  const text = (x: number, y: number, words: string, style = "", size = 11) =>
    words ? `<text x="${x}" y="${y}" font-size="${size}" ${style}>${escaped(words)}</text>` : "";
  const box = (x: number, y: number, w: number, h: number, fill: string, stroke: string, radius = 8) =>
    `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${radius}" fill="${colour(fill)}" stroke="${colour(stroke)}"/>`;
  const operatorColour = (index: number) => colour(`--s${(Math.max(0, index) % OPERATOR_COLOURS) + 1}`);
  const bold = `font-weight="600" fill="${colour("--text")}"`;
  const quiet = `fill="${colour("--text-2")}"`;

  const operator = (one: Operator, index: number) => {
    const at = positions[one.id];
    const kind = kinds.get(one.kind);
    if (!at) return "";
    const tall = nodeHeight(kind);
    const hosts = placement[one.id] ?? [];
    const port = (side: "in" | "out", row: number, label: string) => {
      const x = side === "in" ? at.x : at.x + NODE.width;
      const y = at.y + PORT.top + NODE.port * row;
      return (
        `<circle cx="${x}" cy="${y}" r="4" fill="${colour("--bg-raised")}" stroke="${colour("--text-2")}" stroke-width="1.5"/>` +
        text(side === "in" ? x + 9 : x - 9, y + 4, fitting(label, NODE.width / 2, 6), `${quiet} text-anchor="${side === "in" ? "start" : "end"}"`)
      );
    };
    const plain = (side: "in" | "out") => (side === "in" ? DEFAULT_PORT.target : DEFAULT_PORT.source);
    const label = (side: "in" | "out", name: string) =>
      name !== plain(side) ? name.replaceAll("_", " ") : ((side === "in" ? inputType(document, types, one.id, name) : types.get(`${one.id}.${name}`))?.name ?? "");
    const incoming = kind?.inputs ?? [];
    const outgoing = kind?.outputs ?? [];
    return [
      box(at.x, at.y, NODE.width, tall, "--bg-raised", "--line-control"),
      `<rect x="${at.x + 8}" y="${at.y + 9}" width="10" height="10" rx="2" fill="${operatorColour(index)}"/>`,
      text(at.x + 24, at.y + 18, fitting(one.id, NODE.width - 62, 6.6), bold, 12),
      text(at.x + NODE.width - 8, at.y + 18, `×${instancesOf(one)}`, `${quiet} text-anchor="end"`),
      ...incoming.map((name, row) => port("in", row, label("in", name) === label("out", outgoing[row] ?? "") ? "" : label("in", name))),
      ...outgoing.map((name, row) => port("out", row, label("out", name))),
      `<path d="M${at.x} ${at.y + tall - 25}h${NODE.width}" stroke="${colour("--line-soft")}"/>`,
      text(at.x + 8, at.y + tall - 8, fitting(hosts.length ? summariseHosts(hosts) : "not placed", NODE.width - 16, 5.8), quiet),
    ].join("");
  };

  const instances = instancesByHost(document, placement);
  const indices = new Map(document.query.operators.map((one, index) => [one.id, index]));
  const within = (region: string) =>
    regionLinksOf(document).flatMap((link) => (isWithin(link) && link.source === region ? [`${limitsOf(link)} within`] : []));
  const group = (one: (typeof hardware.groups)[number]) =>
    [
      box(one.x, one.y, one.width, one.height, "--bg-surface", "--line"),
      text(one.x + 8, one.y + 18, one.id.replace(/^./, (letter) => letter.toUpperCase()), bold, 12),
      text(one.x + one.width - 8, one.y + 18, [...within(one.id), one.hosts].join(", "), `${quiet} text-anchor="end"`),
      ...one.tiles.map((tile) => {
        const [x, y] = [one.x + tile.x, one.y + tile.y];
        const here = instances.get(tile.name) ?? [];
        const { perRow, shown } = slotsOn(tile.width, here.length);
        const step = SLOT.size + SLOT.gap;
        const slotAt = (at: number) => ({ x: x + SLOT.border + (at % perRow) * step, y: y + 37 + Math.floor(at / perRow) * step });
        const slots = here.slice(0, shown).map((id, at) => {
          const slot = slotAt(at);
          const fill = operatorColour(indices.get(id) ?? 0);
          return `<rect x="${slot.x}" y="${slot.y}" width="${SLOT.size}" height="${SLOT.size}" rx="2" fill="${fill}"/>`;
        });
        const after = slotAt(shown);
        return [
          box(x, y, tile.width, TILE.height, "--bg-raised", "--line-control", 6),
          text(x + 6, y + 15, fitting(tile.more ? `${tile.name} +${tile.more}` : tile.name, tile.width - 12, 6.2), bold),
          text(x + 6, y + 29, fitting(specOn(tile.width, document.cluster.hosts[tile.template]), tile.width - 12, 5.6), quiet),
          ...slots,
          here.length > shown ? text(after.x, after.y + 8, `+${here.length - shown}`, quiet, 10) : "",
        ].join("");
      }),
      text(
        one.x + 8,
        one.y + one.height - 9,
        fitting([...new Set(one.tiles.map((tile) => tile.template))].flatMap((index) => document.cluster.hosts[index] ?? []).map(describeHost).join(" · "), one.width - 16, 5.6),
        quiet,
      ),
    ].join("");

  const squares = (ids: string[], x: number, y: number) =>
    ids
      .map((id, at) => [x + at * (SLOT.size + SLOT.gap), operatorColour(indices.get(id) ?? 0)] as const)
      .map(([left, fill]) => `<rect x="${left}" y="${y}" width="${SLOT.size}" height="${SLOT.size}" rx="2" fill="${fill}"/>`)
      .join("");
  /** The host with the changelogs, beside those of the document: a partition for each instance. */
  const brokerBox = () => {
    const last = hardware.groups.at(-1);
    if (!broker || !last) return "";
    const x = besideHosts;
    return [
      box(x, last.y, BROKER_WIDTH, last.height, "--bg-surface", "--line"),
      text(x + 8, last.y + 18, "Broker", bold, 12),
      text(x + BROKER_WIDTH - 8, last.y + 18, `${broker.cores} cores`, `${quiet} text-anchor="end"`),
      text(x + 8, last.y + 44, "Changelogs", bold),
      text(x + 8, last.y + 58, fitting(broker.about, BROKER_WIDTH - 16, 5.6), quiet),
      squares(broker.partitions.slice(0, Math.floor((BROKER_WIDTH - 16) / (SLOT.size + SLOT.gap))), x + 8, last.y + 66),
    ].join("");
  };

  const ways = waysOf(document, kinds, positions);
  const label = (x: number, y: number, words: string) => {
    const wide = words.length * 5.8 + 12;
    return box(x - wide / 2, y - 9, wide, 18, "--bg-raised", "--line", 4) + text(x, y + 4, words, `${quiet} text-anchor="middle"`);
  };
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}" font-family="Inter, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif">`,
    `<title>${escaped(document.name)}</title>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${colour("--bg-canvas")}"/>`,
    `<rect x="${left}" y="${hardware.waterline}" width="${width}" height="${top + height - hardware.waterline}" fill="${colour("--bg-water")}"/>`,
    text(hardware.left, hardware.waterline + 26, "Hardware", bold),
    ...ways.map(
      ({ way, lane }) =>
        `<path d="${way.path}" fill="none" stroke="${colour("--line-control")}" stroke-width="1.5"${lane >= 0 ? ' stroke-dasharray="8 4"' : ""}/>`,
    ),
    ...document.query.operators.map(operator),
    ...ways.map(({ edge, way, lane }) => label(way.x, way.y, `${lane >= 0 ? "feedback, " : ""}${partitioningLabel(edge.partitioning)}`)),
    ...hardware.groups.map(group),
    brokerBox(),
    ...hardware.regionLinks.map(({ path, heads }) => `<path d="${path}${heads}" fill="none" stroke="${colour("--text-2")}" stroke-width="1.5"/>`),
    ...hardware.regionLinks.map(({ index, x, y }) => label(x, y, limitsOf(regionLinksOf(document)[index] ?? {}) || "not set")),
    "</svg>",
  ].join("\n");
  return { svg, width, height };
}
