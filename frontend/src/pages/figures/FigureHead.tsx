import { SCALES, type Scale } from "../../api/figure";
import { isActive } from "../../api/queries";
import type { FigureDetail, Reproduction } from "../../api/types";
import { dayOf, duration, plural, when } from "../../lib/format";
import { agreesText, isOwn, tallyText, underWayTally } from "../../model/figure/figure";
import { Icon } from "../../ui/Icon";
import { Progress, statesOf, StatusBadge, statusIcon, statusWord, Tally } from "./status";

/** What the paper claims and what differs here, in words; then the status, and at which scale with which seeds it was measured. */
export function FigureHead({
  figure,
  source,
  scale,
  carried,
  onScale,
}: {
  figure: FigureDetail;
  source: string;
  scale: Scale;
  carried: Reproduction[];
  onScale: (scale: Scale) => void;
}) {
  const { document } = figure;
  const states = statesOf(figure.assertions);
  const result = figure.results.find((one) => one.scale === scale && !one.stale);
  const former = result ? undefined : figure.results.find((one) => one.scale === scale);
  const active = carried.find((row) => row.scale === scale && isActive(row));
  const about = document.scales?.[scale]?.about;
  return (
    <>
      <header className="figure-head">
        <div>
          <p className="eb">
            <Icon name="book" />
            {source}
          </p>
          <h1>{document.title}</h1>
        </div>
        <div className="verdict">
          <StatusBadge status={figure.status} scale={figure.scale} underWay={active} />
          <Tally states={states} />
          <small>{active ? underWayTally(states, active) : tallyText(states)}</small>
        </div>
        <div className="words">
          <section>
            <h2>{isOwn(document.source) ? "The claim" : "The paper's claim"}</h2>
            <p>{document.claim}</p>
          </section>
          <section>
            <h2>What differs here</h2>
            <p>{document.differs}</p>
          </section>
        </div>
      </header>
      <dl className="meta">
        <div>
          <dt id="figure-scale">Scale</dt>
          <dd>
            <span className="seg" role="radiogroup" aria-labelledby="figure-scale">
              {SCALES.map((one) => {
                const made = figure.results.find((result) => result.scale === one && !result.stale);
                const under_way = carried.some((row) => row.scale === one && isActive(row));
                const words = under_way ? "in progress" : made ? statusWord(made.status) : "not run";
                return (
                  <label key={one} title={`${document.scales?.[one]?.about ?? one}: ${words}`}>
                    <input type="radio" name="scale" checked={scale === one} onChange={() => onScale(one)} />
                    <Icon name={under_way ? "play" : statusIcon(made?.status ?? "not run")} small />
                    {one}
                    <span className="vh">, {words}</span>
                  </label>
                );
              })}
            </span>
            {about && <span className="mut about">{about}</span>}
          </dd>
        </div>
        {active ? (
          <div>
            <dt>In progress</dt>
            <dd>
              <Progress row={active} />
            </dd>
          </div>
        ) : result ? (
          <>
            {result.seeds.length > 0 && <Fact term="Seeds" value={result.seeds.length > 5 ? String(result.seeds.length) : result.seeds.join(", ")} more={result.seeds.length > 1 ? "95 % intervals" : "no interval"} />}
            <Fact term="Based on" value={plural(result.runs, "run")} more={`took ${duration(result.took_s)}`} />
            <Fact term="Engine" value={`version ${result.engine_version}`} more={`${result.is_current ? "" : "not the current one, "}${result.is_shipped ? dayOf(result.created_at) : when(result.created_at)}`} />
            {result.is_shipped ? (
              <Fact term="Result" value="Comes with Millrace" more="not run here yet" />
            ) : (
              figure.agrees !== null && <Fact term="Result" value="Run here" more={agreesText(figure.agrees)} />
            )}
          </>
        ) : (
          <Fact
            term="Result"
            value={`None at ${scale} scale`}
            more={former ? `${statusWord(former.status).toLowerCase()} on ${when(former.created_at)}, under an earlier version of the figure` : "not run yet"}
          />
        )}
      </dl>
    </>
  );
}

function Fact({ term, value, more }: { term: string; value: string; more: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <b>{value}</b> <span className="mut">{more}</span>
      </dd>
    </div>
  );
}
