import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { Link, useParams } from "react-router";
import { SCALES, type Scale } from "../../api/figure";
import { figureQuery, isActive, reproductionsQuery } from "../../api/queries";
import type { FigureDetail, Reproduction } from "../../api/types";
import { useUrlState } from "../../lib/useUrlState";
import { panelsOf, pointOf, pointText, shortName, sourceText } from "../../model/figure/figure";
import type { PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { Assertions } from "./Assertions";
import { Behind } from "./Behind";
import { FigureActions } from "./FigureActions";
import { FigureHead } from "./FigureHead";
import { Panels } from "./Panels";
import { Setup } from "./Setup";
import "./figures.css";

const NAMES = ["scale", "point", "view", "setup"] as const;
/** In the address: the set-up that a figure shows by itself is hidden. */
const HIDDEN = "hidden";

/** One figure: what a paper claims, what was measured, what holds of it, and the runs behind. All that is chosen stands in the address. */
export function FigurePage() {
  const { paper = "", figure = "" } = useParams();
  const id = `${paper}/${figure}`;
  return <Asked key={id} id={id} />;
}

function Asked({ id }: { id: string }) {
  const [url, change] = useUrlState(NAMES);
  const asked = SCALES.find((scale) => scale === url.scale) ?? "";
  const { data, error, refetch, isPlaceholderData } = useQuery(figureQuery(id, asked));
  const { data: carried = [] } = useQuery(reproductionsQuery(id));
  if (!data)
    return (
      <div className="page on-figures">
        <TopBar title="Figure" crumb={<Link to="/figures">Figures</Link>} />
        {error ? (
          <Failure
            error={error}
            retry={() => void refetch()}
            leave={
              <Link className="btn" to="/figures">
                Back to figures
              </Link>
            }
          />
        ) : (
          <Loading />
        )}
      </div>
    );
  return (
    <Opened
      figure={data}
      scale={asked || data.scale || (carried.find((row) => isActive(row))?.scale ?? "smoke")}
      carried={carried}
      point={url.point}
      table={url.view === "table"}
      setup={url.setup}
      stale={isPlaceholderData}
      change={change}
    />
  );
}

function Opened({
  figure,
  scale,
  carried,
  point: pointNamed,
  table,
  setup,
  stale,
  change,
}: {
  figure: FigureDetail;
  scale: Scale;
  carried: Reproduction[];
  point: string;
  table: boolean;
  /** The study whose set-up is shown; "": the one that the figure names, if any. */
  setup: string;
  stale: boolean;
  change: ReturnType<typeof useUrlState<(typeof NAMES)[number]>>[1];
}) {
  const { document } = figure;
  const panels = useMemo(() => panelsOf(document, figure.values), [document, figure.values]);
  const point = pointOf(pointNamed, panels);
  const onlyTable = document.drawing.kind === "table";
  const studies = Object.keys(document.studies ?? {});
  const ofItself = document.drawing.deployment ?? "";
  const shown = setup === HIDDEN ? "" : studies.includes(setup) ? setup : ofItself;
  const plots = useRef<(PlotHandle | null)[]>([]);
  const active = carried.find((row) => row.scale === scale && isActive(row));
  const [last] = carried.filter((row) => row.scale === scale);
  const { paper } = document.source;
  return (
    <div className="page on-figures">
      <TopBar
        title={document.title}
        crumb={
          <>
            <Link to="/figures">Figures</Link>
            <span>/</span>
            <Link to={`/figures?search=${encodeURIComponent(paper)}`}>{paper}</Link>
            <span>/</span>
            <b>{shortName(figure)}</b>
          </>
        }
        actions={<FigureActions figure={figure} scale={scale} active={active} panels={panels} plots={plots} table={onlyTable ? "only" : table} />}
      />
      <div className="figure-page" data-testid="figure">
        {last?.state === "failed" && (
          <div className="bar-note err" role="alert" data-testid="figure-error">
            <Icon name="crossc" />
            <span>Reproduction failed at {scale} scale: {last.error}</span>
          </div>
        )}
        <FigureHead
          figure={figure}
          source={sourceText(document.source)}
          scale={scale}
          carried={carried}
          onScale={(next) => change({ scale: next, point: "" })}
        />
        <div className="figure-main" aria-busy={stale} style={stale ? { opacity: 0.6 } : undefined}>
          <Panels
            panels={panels}
            seeds={figure.results.find((one) => one.scale === scale && !one.stale)?.seeds ?? []}
            chosen={pointNamed ? point : null}
            onPoint={(next) => change({ point: pointText(next) })}
            table={onlyTable || table}
            onTable={onlyTable ? null : (on) => change({ view: on ? "table" : "" })}
            underWay={active !== undefined}
            plots={plots}
            setup={shown && <Setup figure={figure} scale={scale} study={shown} onStudy={(study) => change({ setup: study })} />}
            onSetup={studies.length ? (on) => change({ setup: on ? (studies[0] ?? "") : ofItself && HIDDEN }) : null}
          />
          <div className="figure-side">
            <Assertions assertions={figure.assertions} section={document.source.section ?? ""} underWay={active} />
            <Behind figure={figure} scale={scale} panels={panels} point={point} />
          </div>
        </div>
      </div>
    </div>
  );
}
