import { useCallback, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { AlignedData } from "uplot";
import type { ExperimentDocument } from "../../api/document";
import type { Frame } from "../../api/types";
import type { FaultMark } from "../../model/document/faults";
import type { NamedLatency } from "../../model/document/latencies";
import { drawsLines, type ChartId } from "../../model/run/charts";
import { notesOf } from "../../model/run/notes";
import { placesIn } from "../../model/run/place";
import { bandsIn } from "../../model/run/scaling";
import type { Span } from "../../model/run/series";
import { GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { TimeAxis } from "../../ui/chart/TimeAxis";
import { BandCard } from "./BandCard";
import { ChartPanel, type StackSettings } from "./ChartPanel";
import { CheckpointGrid } from "./CheckpointGrid";
import { step } from "./keys";
import { momentOf, noteDrawn, useLiveRun } from "./liveRun";
import { Shades } from "./Shades";
import { Jobs } from "./Jobs";
import { Stops } from "./Stops";
import { usePointedMoment } from "./usePointedMoment";
import { Workers } from "./Workers";

const FRAMES_BY_KEY: { [key: string]: number } = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/**
 * The charts over one time axis, with one cursor. A click holds the moment, Esc or "Go live" lets it go; dragging over a stretch shows
 * only that, a double click all of it.
 */
export function TimeStack({
  document,
  end_s,
  warmup_s,
  faults,
  finished,
  latencies,
  settings,
  onSettings,
  onRescale,
  whySlow,
}: {
  document: ExperimentDocument;
  end_s: number;
  warmup_s: number;
  faults: FaultMark[];
  finished: boolean;
  latencies: NamedLatency[];
  settings: StackSettings;
  onSettings: (changes: Partial<StackSettings>) => void;
  onRescale: (frame: Frame) => void;
  /** Leads from the latency chart to the records behind it. */
  whySlow: ReactNode;
}) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const pinned = useLiveRun((state) => state.pinned_s !== null);
  const zoom = useLiveRun((state) => state.zoom);
  const [table, setTable] = useState<ChartId | null>(null);
  const stack = useRef<HTMLDivElement>(null);
  const head_s = count ? log.timeOf(count - 1) : 0;
  const span: Span = zoom ?? { from_s: 0, to_s: end_s };
  const { place, share } = placesIn(span);
  const bands = bandsIn(log.scaling, span);
  const { drag, told, pointer } = usePointedMoment(stack, span, bands);
  const onDrawn = useCallback((data: AlignedData) => {
    const points = data[0].length;
    stack.current?.setAttribute("data-points", String(points));
    if (points && window.__millrace) window.__millrace.chart = data;
    noteDrawn(points);
  }, []);

  const firstLines = settings.charts.findIndex(drawsLines);
  const seen = faults.filter((fault) => fault.end_s >= span.from_s && fault.start_s <= span.to_s);
  const card = drag ? undefined : bands.find(({ action }) => action.number === told);
  const shades = <Shades span={span} warmup_s={warmup_s} head_s={head_s} faults={seen} bands={bands} drag={drag} />;
  const notes = notesOf(span, { warmup_s, head_s, finished, faults: seen });
  const now = !count ? -1 : moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1);
  return (
    <section
      className="panel stack"
      ref={stack}
      tabIndex={0}
      aria-label="Charts over virtual time. Arrow keys move the moment, plus and minus zoom, 0 shows all, Escape goes live."
      data-testid="time-stack"
      data-points="0"
      {...pointer}
      onKeyDown={onKeyDown}
    >
      <div className="stack-scroll scroll">
        {settings.charts.map((id, index) =>
          id === "checkpoints" ? (
            <CheckpointGrid key={id} document={document} span={span} shades={shades} />
          ) : id === "workers" ? (
            <Workers key={id} document={document} span={span} shades={shades} bands={bands} onRescale={onRescale} />
          ) : (
            <ChartPanel
              key={id}
              id={id}
              document={document}
              latencies={latencies}
              settings={settings}
              onSettings={onSettings}
              span={span}
              now={now}
              table={table === id}
              onTable={() => setTable(table === id ? null : id)}
              shades={shades}
              notes={index === firstLines ? notes : []}
              onDrawn={index === firstLines ? onDrawn : undefined}
              extra={id === "latency" ? whySlow : null}
            />
          ),
        )}
        {moment_s !== null && place(moment_s) >= 0 && place(moment_s) <= 1 && (
          <div className="cursor-box" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
            <i style={{ left: share(moment_s) }} />
          </div>
        )}
      </div>
      {card && (
        <div className={`band-at ${place(card.from_s) > 0.6 ? "left" : ""}`} style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
          <div style={{ left: share(place(card.from_s) > 0.6 ? card.from_s : (card.to_s ?? head_s)) }}>
            <BandCard action={card.action} head_s={head_s} />
          </div>
        </div>
      )}
      {log.stops && <Stops stops={log.stops} span={span} head_s={head_s} />}
      {log.jobs && <Jobs jobs={log.jobs.all} stages={log.jobs.stages} limit_per_s={log.jobs.limit_per_s} span={span} head_s={head_s} />}
      <TimeAxis span={span} moment_s={moment_s} pinned={pinned} />
    </section>
  );
}

function onKeyDown(event: KeyboardEvent): void {
  if ((event.target as HTMLElement).closest("select, input, .frames")) return;
  const frames = FRAMES_BY_KEY[event.key];
  if (!frames) return;
  event.preventDefault();
  step(frames);
}
