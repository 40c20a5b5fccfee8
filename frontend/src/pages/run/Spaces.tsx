import { useMemo, useState, type MouseEvent } from "react";
import type { ExperimentDocument } from "../../api/document";
import type { Run, StoredRecord as Stored } from "../../api/types";
import { plural, short } from "../../lib/format";
import type { FrameLog } from "../../model/run/frames";
import type { RecordRoute as Route } from "../../model/run/recordRoutes";
import {
  arcsOf,
  isCircle,
  isSelfJoin,
  pictureAt,
  selectivityOf,
  similarityJoins,
  sinkOfWorkers,
  stagesOf,
  thresholdOf,
  turnOf,
  type SpacePicture,
  type Stage,
  type Workset,
} from "../../model/run/spaces";
import { keyOf, metBy } from "../../model/run/storedRecords";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";
import { Exactness } from "./Exactness";
import { MoveWorkset } from "./MoveWorkset";
import { RecordRoute, useRecordRoute } from "./RecordRoute";
import { StoredRecord } from "./StoredRecord";

const COLOURS = 6;
const LARGEST_SHOWN = 8;
const RING = 100;
const LONGEST = 58;
/** Where stored records lie on the circle: left ones, or those of the only stream, and right ones. */
const RECORD_RINGS = [0.3 * RING, 0.23 * RING];

const colourOf = (worker: number) => `var(--s${1 + (worker % COLOURS)})`;
const at = (turn: number, radius: number): [number, number] => [radius * Math.cos(Math.PI * turn), -radius * Math.sin(Math.PI * turn)];

/** Spaces and worksets of a similarity join: where they lie, whose they are, what they have compared in the window so far. */
export function Spaces({ run, document, gone }: { run: Run; document: ExperimentDocument; gone: boolean }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count); // what is told comes with frames
  const moment_s = useLiveRun(momentOf);
  const [chosen, setChosen] = useState("");
  const [record, setRecord] = useState("");
  const joins = similarityJoins(document);
  const join = (joins.includes(chosen) ? chosen : joins[0]) ?? "";
  const picture = useMemo(
    () => pictureAt(log.spaces, log.balancing, join, moment_s),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the log grows in place
    [log, join, moment_s, count],
  );
  const threshold = thresholdOf(document, join);
  const asked = useRecordRoute(picture, threshold);
  if (!picture?.worksets.length) return <Empty icon="clock" title="No record has come to the join yet, so there is no workset" />;
  const { dimensions, stored } = picture;
  const oneStream = isSelfJoin(document, join);
  const opened = stored.find((one) => keyOf(one) === record) ?? null;
  const records = { stored, opened, choose: setRecord, met: opened ? metBy(opened, stored, oneStream) : [] };
  const selectivity = selectivityOf(document, run.summary, join);
  return (
    <div className="spaces scroll" tabIndex={0} role="region" aria-label="Space" data-testid="spaces">
      <figure>
        {isCircle(document, join) ? <Circle picture={picture} {...records} {...asked} /> : <Plane picture={picture} {...records} />}
        <figcaption>
          {isCircle(document, join)
            ? "Outside, the spaces with their centroids. Inside, a line for each workset in its owner's colour; its length shows its comparisons. Dots are stored records."
            : `A dot for each workset in its owner's colour; its size shows its comparisons. Small dots are stored records.${dimensions > 2 ? ` The first two of ${dimensions} coordinates.` : ""}`}
        </figcaption>
      </figure>
      <div className="about">
        <p>
          <b>{plural(picture.worksets.length, "workset")}</b>
          {joins.length > 1 && (
            <select className="in" aria-label="Join" value={join} onChange={(event) => setChosen(event.target.value)}>
              {joins.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
          <span title="In the newest window, up to this moment">{short(picture.compared)} comparisons</span>
          {selectivity !== null && (
            <span title="Pairs over all pairs of left and right records in a window, with records that come evenly" data-testid="selectivity">
              about {short(100 * selectivity)} % of pairs match
            </span>
          )}
        </p>
        <Exactness key={join} run={run} join={join} />
        {isCircle(document, join) && <RecordRoute {...asked} threshold={threshold} />}
        <StoredRecord
          records={stored}
          at_s={picture.stored_at_s}
          chosen={opened}
          choose={setRecord}
          threshold={threshold}
          oneStream={oneStream}
        />
        <Workers picture={picture} p99_ms={latenciesAt(log, sinkOfWorkers(document, join), moment_s)} />
        <Largest worksets={picture.worksets} mean={picture.compared / Math.max(1, picture.workers.length)} />
        <Stages stages={stagesOf(document, run.summary, join)} />
        <MoveWorkset run={run} gone={gone} join={join} picture={picture} at_s={moment_s ?? log.head_s} />
      </div>
    </div>
  );
}

const told = ({ space, number, worker, compared, records }: Workset) =>
  `Workset ${space}.${number}, worker ${worker}: ${short(compared)} comparisons, ${short(records)} records and copies`;

interface Records {
  stored: readonly Stored[];
  opened: Stored | null;
  met: readonly Stored[];
  choose: (key: string) => void;
}

/** Stored records, and lines from the one that is opened to the worksets of its copies. */
function Dots({
  stored,
  opened,
  met,
  choose,
  worksets,
  placeOf,
  placeOfWorkset,
}: Records & {
  worksets: readonly Workset[];
  placeOf: (record: Stored) => [number, number];
  placeOfWorkset: (workset: Workset) => [number, number];
}) {
  const lines = (opened?.copies ?? []).flatMap(([space, number, , role]) => {
    const workset = worksets.find((one) => one.space === space && one.number === number);
    return workset ? [{ workset, role }] : [];
  });
  return (
    <>
      {opened &&
        lines.map(({ workset, role }) => (
          <path
            key={`${workset.space}.${workset.number}`}
            className={`stop ${role === 1 ? "outer" : "inner"}`}
            d={`M${placeOf(opened).join(" ")}L${placeOfWorkset(workset).join(" ")}`}
          />
        ))}
      {stored.map((one) => {
        const [x, y] = placeOf(one);
        const state = one === opened ? "opened" : met.includes(one) ? "met" : "";
        return (
          <circle
            key={keyOf(one)}
            className={`record ${state}`}
            cx={x}
            cy={y}
            r={state ? 2.2 : 1.3}
            onClick={(event) => {
              event.stopPropagation();
              choose(keyOf(one));
            }}
          >
            <title>Record of {one.event_s.toFixed(3)} s, {plural(one.copies.length, "copy", "copies")}: click to see where it went</title>
          </circle>
        );
      })}
    </>
  );
}

function Circle({
  picture: { centroids, worksets },
  turn: shown,
  setTurn,
  route,
  ...records
}: Records & {
  picture: SpacePicture;
  turn: number | null;
  setTurn: (turn: number) => void;
  route: Route | null;
}) {
  const most = Math.max(1, ...worksets.map(({ compared }) => compared));
  const point = ({ currentTarget, clientX, clientY }: MouseEvent<SVGSVGElement>) => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(currentTarget.getScreenCTM()?.inverse());
    setTurn(turnOf(x, -y));
  };
  return (
    <svg
      viewBox="-128 -128 256 256"
      role="img"
      aria-label={`${worksets.length} worksets in ${centroids.length} spaces`}
      className="circle"
      onClick={point}
    >
      {arcsOf(centroids).map(({ space, from, to }) => (
        <path key={space} className="space" d={arc(from, to, RING + 6)} stroke={colourOf(space)}>
          <title>Space {space}</title>
        </path>
      ))}
      {centroids.map(([x = 0, y = 0], space) => {
        const turn = turnOf(x, y);
        const [left, top] = at(turn, RING + 18);
        return (
          <g key={space}>
            <path className="centroid" d={`M${at(turn, RING + 1).join(" ")}L${at(turn, RING + 11).join(" ")}`} />
            <text x={left} y={top}>
              {space}
            </text>
          </g>
        );
      })}
      {worksets.map((workset) => {
        const turn = turnOf(workset.x, workset.y);
        return (
          <path
            key={`${workset.space}.${workset.number}`}
            className="workset"
            stroke={colourOf(workset.worker)}
            d={`M${at(turn, RING - 2).join(" ")}L${at(turn, RING - 5 - (LONGEST * workset.compared) / most).join(" ")}`}
          >
            <title>{told(workset)}</title>
          </path>
        );
      })}
      {route &&
        shown !== null &&
        route.spaces.flatMap(({ stops }) =>
          stops.map(({ workset, role }) => {
            const to = workset ? turnOf(workset.x, workset.y) : shown;
            return (
              <path
                key={workset ? `${workset.space}.${workset.number}` : "new"}
                className={`stop ${role}`}
                d={`M${at(shown, 0.3 * RING).join(" ")}L${at(to, RING - 2).join(" ")}`}
              />
            );
          }),
        )}
      {shown !== null && <path className="asked" d={`M0 0L${at(shown, RING + 12).join(" ")}`} />}
      <Dots
        {...records}
        worksets={worksets}
        placeOf={({ side, at: [x = 0, y = 0] }) => at(turnOf(x, y), RECORD_RINGS[side] ?? 0)}
        placeOfWorkset={({ x, y }) => at(turnOf(x, y), RING - 2)}
      />
    </svg>
  );
}

function arc(from: number, to: number, radius: number): string {
  const gap = 0.004;
  const [x1, y1] = at(from + gap, radius);
  const [x2, y2] = at(to - gap, radius);
  return `M${x1} ${y1}A${radius} ${radius} 0 ${to - from > 1 ? 1 : 0} 0 ${x2} ${y2}`;
}

function Plane({ picture: { centroids, worksets }, ...records }: Records & { picture: SpacePicture }) {
  const points = [...worksets, ...[...records.stored.map((record) => record.at), ...centroids].map(([x = 0, y = 0]) => ({ x, y }))];
  const extent = Math.max(1e-9, ...points.flatMap(({ x, y }) => [Math.abs(x), Math.abs(y)]));
  const most = Math.max(1, ...worksets.map(({ compared }) => compared));
  const place = (value: number) => (RING * value) / extent;
  return (
    <svg viewBox="-128 -128 256 256" role="img" aria-label={`${worksets.length} worksets in ${centroids.length} spaces`}>
      {worksets.map((workset) => (
        <circle
          key={`${workset.space}.${workset.number}`}
          cx={place(workset.x)}
          cy={-place(workset.y)}
          r={1.2 + 6 * Math.sqrt(workset.compared / most)}
          fill={colourOf(workset.worker)}
        >
          <title>{told(workset)}</title>
        </circle>
      ))}
      {centroids.map(([x = 0, y = 0], space) => (
        <g key={space}>
          <path className="centroid" d={`M${place(x) - 3} ${-place(y)}h6m-3 -3v6`} />
          <text x={place(x) + 7} y={-place(y) - 5}>
            {space}
          </text>
        </g>
      ))}
      <Dots
        {...records}
        worksets={worksets}
        placeOf={({ at: [x = 0, y = 0] }) => [place(x), -place(y)]}
        placeOfWorkset={({ x, y }) => [place(x), -place(y)]}
      />
    </svg>
  );
}

/** The 99th percentile at each worker in the frame of a moment, by number; null where the run does not measure it. */
function latenciesAt(log: FrameLog, sink: string | null, moment_s: number | null): ((worker: number) => number) | null {
  if (sink === null) return null;
  const times = log.column("t_s");
  let n = log.count - 1;
  while (n > 0 && moment_s !== null && (times[n] ?? 0) > moment_s) n -= 1;
  return (worker) => log.column("operators", sink, "latency_by_instance", String(worker), "p99")[n] ?? NaN;
}

function Workers({ picture: { workers }, p99_ms }: { picture: SpacePicture; p99_ms: ((worker: number) => number) | null }) {
  const most = Math.max(1e-9, ...workers.map(({ share }) => share));
  return (
    <table className="table" data-testid="space-workers">
      <thead>
        <tr>
          <th className="num">Worker</th>
          <th className="num">Worksets</th>
          <th title="Of the comparisons in the newest window so far">Share</th>
          <th className="num">Comparisons</th>
          {p99_ms && (
            <th className="num" title="99th percentile of the latency of pairs in this frame">
              p99, ms
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {workers.map(({ worker, worksets, compared, share }) => (
          <tr key={worker}>
            <td className="num">
              <i className="swatch" style={{ background: colourOf(worker) }} aria-hidden /> {worker}
            </td>
            <td className="num">{worksets}</td>
            <td>
              <span className="share" title={`${(100 * share).toFixed(1)} %`}>
                <i style={{ width: `${(100 * share) / most}%`, background: colourOf(worker) }} />
              </span>
            </td>
            <td className="num">{short(compared)}</td>
            {p99_ms && <td className="num">{Number.isNaN(p99_ms(worker)) ? "–" : short(p99_ms(worker))}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Stages({ stages }: { stages: Stage[] }) {
  const records = stages[0]?.records ?? 0;
  if (!records) return null;
  return (
    <table className="table" data-testid="space-stages">
      <thead>
        <tr>
          <th title="Of the whole run">Stage</th>
          <th className="num">Records in</th>
          <th className="num" title="Distances to centroids that were computed; at the join, comparisons of two records">
            Distances
          </th>
          <th className="num" title="Records and their copies; at the join, pairs">
            Sent
          </th>
          <th className="num" title="For each record of the sources">
            Per record
          </th>
        </tr>
      </thead>
      <tbody>
        {stages.map(({ name, records: received, distances, sent }) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="num">{short(received)}</td>
            <td className="num">{short(distances)}</td>
            <td className="num">{short(sent)}</td>
            <td className="num">{short(sent / records)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Largest({ worksets, mean }: { worksets: Workset[]; mean: number }) {
  const largest = [...worksets].sort((a, b) => b.compared - a.compared).slice(0, LARGEST_SHOWN);
  return (
    <table className="table" data-testid="largest-worksets">
      <thead>
        <tr>
          <th title="Space and number of the workset">Largest worksets</th>
          <th className="num">Worker</th>
          <th className="num" title="Of both streams, copies included">
            Records
          </th>
          <th className="num">Comparisons</th>
        </tr>
      </thead>
      <tbody>
        {largest.map(({ space, number, worker, records, compared, parts }) => (
          <tr key={`${space}.${number}`}>
            <td>
              {space}.{number}{" "}
              {parts && <span className="badge">in {parts} parts</span>}
              {!parts && compared > mean && (
                <span className="badge warn" title={`More comparisons than the mean of a worker, ${short(mean)}: no worker could take it without being the busiest`}>
                  too large to move
                </span>
              )}
            </td>
            <td className="num">{worker}</td>
            <td className="num">{short(records)}</td>
            <td className="num">{short(compared)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
