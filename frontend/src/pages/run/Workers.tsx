import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import type { ExperimentDocument } from "../../api/document";
import { registryQuery } from "../../api/queries";
import type { Frame } from "../../api/types";
import { short } from "../../lib/format";
import { schemaAt } from "../../model/document/schema";
import type { Line } from "../../model/run/charts";
import { chartSvg } from "../../model/run/chartSvg";
import type { Pattern } from "../../model/run/parts";
import { bandText, bandAt, isMove, policyText, relocates, scalingOf, stairs, type Band, type ScalingHistory } from "../../model/run/scaling";
import type { Span } from "../../model/run/series";
import { Chart, GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { PictureMenu } from "../../ui/chart/PictureMenu";
import { Icon } from "../../ui/Icon";
import { themeColour } from "../../ui/themeColour";
import { FrameTable } from "./FrameTable";
import { Legend } from "./Legend";
import { momentOf, useLiveRun } from "./liveRun";
import { RescaleButton } from "./Rescale";

const STYLES: [token: string, pattern: Pattern][] = [
  ["--s1", "plain"],
  ["--s2", "hatch"],
  ["--s3", "dots"],
  ["--s4", "rows"],
  ["--s5", "cross"],
  ["--s6", "plain"],
];
/** For pictures. */
const DRAWN = { note: "active instances", log: false, areas: true, stepped: true, format: short };
const WISH: Line = { label: "requested", token: "--text", width: 1.75, dash: [2, 3], over: true };

/** What is drawn: an area for each operator, the smallest ones together where there are too many, and the wish over them. */
function drawingOf(history: ScalingHistory, operators: string[], head_s: number) {
  const { t_s, columns, wish } = stairs(history, operators, head_s);
  const most = columns.map((column) => column.reduce((before, p) => Math.max(before, p), 0));
  const bySize = operators.map((_, at) => at).sort((a, b) => (most[b] ?? 0) - (most[a] ?? 0) || a - b);
  const own = operators.length > STYLES.length ? bySize.slice(0, STYLES.length - 1).sort((a, b) => a - b) : operators.map((_, at) => at);
  const rest = operators.map((_, at) => at).filter((at) => !own.includes(at));
  const names = [...own.map((at) => operators[at] ?? ""), ...(rest.length ? [`${rest.length} others`] : [])];
  const values = [
    ...own.map((at) => columns[at] ?? []),
    ...(rest.length ? [t_s.map((_, n) => rest.reduce((sum, at) => sum + (columns[at]?.[n] ?? 0), 0))] : []),
  ];
  return { t_s, names: names.join("\n"), columns: [...values, wish] };
}

/** What the bands over all charts are, of those that are there. */
function BandKeys({ bands }: { bands: Band[] }) {
  const name = bands.some(({ action }) => isMove(action)) ? "move" : "rescale";
  const keys = [
    { name: "band", label: name, means: "From the order until processing resumes", there: bands.some(({ action }) => action.outcome !== "aborted") },
    { name: "band aborted", label: "aborted", means: `A ${name} that was aborted`, there: bands.some(({ action }) => action.outcome === "aborted") },
    { name: "down-band", label: "down", means: "From the stop of the first source until the last one reads again", there: bands.some(({ down }) => down) },
  ];
  return (
    <div className="lg bands" data-testid="band-keys">
      {keys.map(
        ({ name, label, means, there }) =>
          there && (
            <span key={label} title={means}>
              <i className={`swatch ${name}`} />
              {label}
            </span>
          ),
      )}
    </div>
  );
}

/** Active instances over time: a staircase by operator, and how many were requested. */
export function Workers({
  document,
  span,
  shades,
  bands,
  onRescale,
}: {
  document: ExperimentDocument;
  span: Span;
  shades: ReactNode;
  bands: Band[];
  onRescale: (frame: Frame) => void;
}) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const run = useLiveRun((state) => state.run?.number);
  const [table, setTable] = useState(false);
  const head_s = count ? log.timeOf(count - 1) : 0;
  const operators = useMemo(() => document.query.operators.map(({ id }) => id), [document]);
  // The history grows in place; the count says that there is something new.
  const { t_s, names, columns } = useMemo(
    () => (count >= 0 ? drawingOf(log.scaling, operators, head_s) : { t_s: [], names: "", columns: [] }),
    [log, count, operators, head_s],
  );
  const lines = useMemo(
    (): Line[] => [
      ...names.split("\n").map((label, at): Line => ({ label, token: STYLES[at]?.[0] ?? "--s6", pattern: STYLES[at]?.[1] ?? "plain", width: 1 })),
      WISH,
    ],
    [names],
  );
  // As everything beside it: at the end of the frame that covers the moment.
  const n = moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1);
  const shown_s = count ? log.timeOf(n) : 0;
  const now = t_s.findLastIndex((time) => time <= shown_s + 1e-9);
  const values = columns.map((column) => (now < 0 ? null : (column[now] ?? null)));
  const workers = values.slice(0, -1).reduce((sum: number, value) => sum + (value ?? 0), 0);
  const { data: registry } = useQuery(registryQuery);
  const actions = relocates(document, registry ?? {}) ? "moves" : "rescales";
  const scaling = scalingOf(document);
  const known = schemaAt(registry?.scalings?.find(({ kind }) => kind === scaling.kind)?.schema, ["workers_max"]);
  const most = Number(scaling.workers_max ?? known?.default ?? 0);
  const frame_s = shown_s - (n > 0 ? log.timeOf(n - 1) : 0);
  const band = moment_s === null ? null : bandAt(bands.filter(({ from_s }) => from_s <= shown_s), shown_s, frame_s);
  const note = `${count ? `${workers}${most ? ` of at most ${most}` : ""}` : ""}`;
  return (
    <section data-testid="chart-workers" className="tall">
      <div className="ph">
        <h2>Instances</h2>
        <span className="policy" data-testid="workers-policy" title="Set under Policies, Scaling">
          {policyText(document, registry?.scalings)}
        </span>
        <span className="mut" data-testid="workers-now" title={`Active instances; bands are ${actions}, hatched while the job is down`}>
          {note}
        </span>
        <span className="said ell grow" role="status" title={band ? bandText(band.action, head_s) : undefined}>
          {band && bandText(band.action, head_s)}
        </span>
        <RescaleButton document={document} onRescale={onRescale} />
        {!table && (
          <PictureMenu
            title="Instances"
            name={`run ${run} Instances`}
            picture={() =>
              chartSvg(
                { ...DRAWN, title: `Run ${run}: instances`, t_s, columns, lines, span },
                themeColour(),
              )
            }
          />
        )}
        <button
          className="btn ghost icon mini"
          title={table ? "Show the chart" : "Show as a table"}
          aria-label={`Instances: ${table ? "chart" : "table"}`}
          aria-pressed={table}
          onClick={() => setTable(!table)}
        >
          <Icon name={table ? "compare" : "table"} small />
        </button>
      </div>
      {!table && (
        <div className="ph second">
          <Legend lines={lines} values={values} format={short} />
          <BandKeys bands={bands} />
        </div>
      )}
      {table ? (
        <FrameTable rows="Step" count={t_s.length} lines={lines} columns={columns} t_s={t_s} format={short} />
      ) : (
        <div className="plot">
          <div className="shades" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
            {shades}
          </div>
          <Chart t_s={t_s} columns={columns} lines={lines} span={span} areas stepped format={short} />
        </div>
      )}
    </section>
  );
}
