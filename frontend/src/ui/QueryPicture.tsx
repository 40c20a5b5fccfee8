import { memo, useMemo } from "react";
import type { ExperimentDocument } from "../api/document";
import { edgeKey } from "../model/document/document";
import { expandHosts } from "../model/document/hosts";
import { gridOf } from "../model/graph/layout";
import { iconOf } from "./Icon";
import { ICONS } from "./icons";
import "./query-picture.css";

/** Sizes in the drawing's own units. */
const BOX = { width: 40, height: 24 } as const;
const PITCH = { x: 60, y: 36 } as const;
const HOST = { size: 9, gap: 4, most: 14 } as const;
const MARGIN = 8;
/** Room for rows; a query with fewer is drawn no larger than this. */
const ROWS_LEAST = 2;
const COLUMNS_LEAST = 4;
const COLOURS = 6;

/** A query in small, above its waterline, with the hosts below: what the canvas shows, drawn from the same document. */
export const QueryPicture = memo(function QueryPicture({
  document,
  icons,
}: {
  document: ExperimentDocument;
  /** Icon by operator kind. */
  icons: ReadonlyMap<string, string>;
}) {
  const drawing = useMemo(() => drawn(document), [document]);
  const hosts = useMemo(() => expandHosts(document), [document]);
  const shown = Math.min(hosts.length, HOST.most);
  const row_px = shown * HOST.size + (shown - 1) * HOST.gap;
  return (
    <svg className="query-picture" viewBox={`0 0 ${drawing.width} ${drawing.height}`} aria-hidden="true" preserveAspectRatio="xMidYMid meet">
      <rect className="water" x={-drawing.width} y={drawing.waterline} width={3 * drawing.width} height={3 * drawing.height} />
      <path className="waterline" d={`M${-drawing.width} ${drawing.waterline}H${2 * drawing.width}`} />
      {drawing.edges.map(({ key, path, feedback }) => (
        <path key={key} className={`edge ${feedback ? "feedback" : ""}`} d={path} />
      ))}
      {document.query.operators.map(({ id, kind }, at) => {
        const place = drawing.places[id];
        return (
          place && (
            <g key={id} transform={`translate(${place.x} ${place.y})`}>
              <rect className="box" width={BOX.width} height={BOX.height} rx="4" />
              <rect width="3" height={BOX.height} rx="1.5" style={{ fill: `var(--s${(at % COLOURS) + 1})` }} />
              <g className="i" transform="translate(14 4)">
                {ICONS[iconOf(icons.get(kind) || kind)]}
              </g>
            </g>
          )
        );
      })}
      {hosts.slice(0, shown).map((host, at) => (
        <rect
          key={host.name}
          className="machine"
          x={(drawing.width - row_px) / 2 + at * (HOST.size + HOST.gap)}
          y={drawing.waterline + 8}
          width={HOST.size}
          height={HOST.size}
          rx="2"
        />
      ))}
    </svg>
  );
});

function drawn(document: ExperimentDocument) {
  const grid = gridOf(document);
  const cells = Object.values(grid);
  const columns = 1 + Math.max(0, ...cells.map(({ column }) => column));
  const rows = 1 + Math.max(0, ...cells.map(({ row }) => row));
  const width = 2 * MARGIN + (Math.max(columns, COLUMNS_LEAST) - 1) * PITCH.x + BOX.width;
  const loops = document.query.edges.some((edge) => edge.feedback) ? 10 : 0;
  const above = 2 * MARGIN + loops + (Math.max(rows, ROWS_LEAST) - 1) * PITCH.y + BOX.height;
  const left = (width - (columns - 1) * PITCH.x - BOX.width) / 2;
  const top = loops + (above - loops - (rows - 1) * PITCH.y - BOX.height) / 2;
  const places = Object.fromEntries(
    Object.entries(grid).map(([id, { column, row }]) => [id, { x: left + column * PITCH.x, y: top + row * PITCH.y }]),
  );
  const edges = document.query.edges.flatMap((edge) => {
    const [source, target] = [places[edge.source], places[edge.target]];
    if (!source || !target) return [];
    const from = { x: source.x + BOX.width, y: source.y + BOX.height / 2 };
    const to = { x: target.x, y: target.y + BOX.height / 2 };
    return [{ key: edgeKey(edge), feedback: Boolean(edge.feedback), path: pathOf(from, to, edge.feedback ? target.y - 8 : null) }];
  });
  return { places, edges, width, height: above + HOST.size + 18, waterline: above };
}

/** Straight on with a swing; back along a line above, or to a row below. */
function pathOf(from: { x: number; y: number }, to: { x: number; y: number }, loop: number | null): string {
  if (loop !== null) return `M${from.x} ${from.y}h6V${loop}H${to.x - 6}V${to.y}h6`;
  if (to.x < from.x) return `M${from.x} ${from.y}h6V${(from.y + to.y) / 2}H${to.x - 6}V${to.y}h6`;
  const middle = (from.x + to.x) / 2;
  return `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
}
