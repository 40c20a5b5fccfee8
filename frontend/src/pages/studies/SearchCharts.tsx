import { useCallback, useMemo, type RefObject } from "react";
import { useNavigate } from "react-router";
import type { StudyDetail, StudyResults, StudySearch } from "../../api/types";
import { GROWTHS, knownLoad, spotsOf, type Growth } from "../../model/study/search";
import { axisTitle, loadOf } from "../../model/study/study";
import { axisOf, logTicks, Plot, type Colours, type PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { Empty } from "../../ui/states";

const GROWTH_MAX = 0.01;
const VERDICTS = [
  { sustained: true, token: "--ok", symbol: "circle", words: "sustained", icon: "check" },
  { sustained: false, token: "--err", symbol: "x", words: "not sustained", icon: "crossc" },
] as const;

/** The sustainable load of a point as far as it is known, and every load tried over the growth that its verdict rests on. */
export function SearchCharts({
  study,
  results,
  point,
  plots,
}: {
  study: StudyDetail;
  results: StudyResults;
  point: string;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const number = Number(point.split("@")[0]);
  const searches = useMemo(() => results.found.filter((one) => one.point === number), [results, number]);
  const { value, more } = knownLoad(searches, study.state !== "cancelled" && study.state !== "failed"); // results follow the state a moment later
  const load = loadOf(study.document);
  const limits = study.document.search?.sustained as { growth_max?: number } | undefined;
  return (
    <>
      <p className="known" role="status" data-testid="known-load">
        <span className="mut">Sustainable {load ? axisTitle(load) : "load"}</span>
        <b>{value}</b>
        <span className="mut">{more}</span>
      </p>
      <ul className="legend" aria-label="Marks">
        {VERDICTS.map(({ words, icon, token }) => (
          <li key={words} style={{ color: `var(${token})` }}>
            <Icon name={icon} small />
            {words}
          </li>
        ))}
        <li className="mut">shaded: where the load lies; dashed: the largest growth that counts as steady</li>
      </ul>
      <div className="charts">
        {GROWTHS.map(({ name, title, unit }, at) => (
          <figure key={name} data-testid={`growth-${name}`} data-points={spotsOf(searches, name).length}>
            <figcaption>
              <b>{title}</b>
              <span className="mut">{unit}</span>
            </figcaption>
            <div className="plot">
              {spotsOf(searches, name).length ? (
                <GrowthChart
                  searches={searches}
                  growth={name}
                  title={title}
                  load={load ? axisTitle(load) : "load"}
                  limit={100 * (limits?.growth_max ?? GROWTH_MAX)}
                  handle={(handle) => {
                    plots.current[at] = handle;
                    return () => {
                      plots.current[at] = null;
                    };
                  }}
                />
              ) : (
                <Empty title="No run measured it yet">Each load appears here when its run has ended.</Empty>
              )}
            </div>
          </figure>
        ))}
      </div>
    </>
  );
}

function GrowthChart({
  searches,
  growth,
  title,
  load,
  limit,
  handle,
}: {
  searches: StudySearch[];
  growth: Growth;
  title: string;
  load: string;
  limit: number;
  handle: (handle: PlotHandle | null) => () => void;
}) {
  const navigate = useNavigate();
  const groups = useMemo(() => {
    const spots = spotsOf(searches, growth);
    return VERDICTS.map(({ sustained }) => spots.filter((spot) => spot.sustained === sustained));
  }, [searches, growth]);
  const draw = useCallback(
    (colour: Colours) => {
      const line = (shape: object) => ({ type: "line", line: { color: colour("--line-control"), width: 1, dash: "4px,3px" }, ...shape });
      return {
        data: VERDICTS.map(({ token, symbol, words }, at) => ({
          type: "scatter",
          mode: "markers",
          name: words,
          x: groups[at]?.map(({ load: x }) => x),
          y: groups[at]?.map(({ y }) => y),
          marker: { color: colour(token), size: 9, symbol },
          text: groups[at]?.map(({ text }) => text),
          hovertemplate: "%{text}<extra></extra>",
        })),
        layout: {
          xaxis: axisOf(colour, load, logTicks(groups.flat().map(({ load: x }) => x))),
          yaxis: axisOf(colour, "%", { type: "linear" }),
          shapes: [
            line({ xref: "paper", x0: 0, x1: 1, y0: limit, y1: limit }),
            ...searches.flatMap(({ sustained, failed }) =>
              sustained === null || failed === null
                ? []
                : [{ type: "rect", layer: "below", yref: "paper", x0: sustained, x1: failed, y0: 0, y1: 1, fillcolor: colour("--accent"), opacity: 0.15, line: { width: 0 } }],
            ),
          ],
        },
      };
    },
    [groups, searches, load, limit],
  );
  return (
    <Plot
      label={`${title} over ${load}, ${groups[0]?.length ?? 0} loads sustained and ${groups[1]?.length ?? 0} not; the table of loads tried has the verdicts`}
      draw={draw}
      revision={growth}
      handle={handle}
      onPick={(curve, at) => {
        const run = typeof at === "number" ? groups[curve]?.[at]?.run : undefined;
        if (run) void navigate(`/runs/${run}`);
      }}
    />
  );
}
