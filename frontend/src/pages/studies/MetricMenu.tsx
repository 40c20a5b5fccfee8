import { useState } from "react";
import { plural } from "../../lib/format";
import { found } from "../../lib/search";
import { FOUND, metricOf, metricTitle } from "../../model/study/metrics";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";

/** More charts than that are too small to read. */
export const METRICS_MAX = 6;

/** Which metrics are on show: all that the runs measured, to search and tick. */
export function MetricMenu({
  known,
  searches,
  chosen,
  onChange,
}: {
  known: readonly string[];
  searches: boolean;
  chosen: readonly string[];
  onChange: (names: string[]) => void;
}) {
  const [search, setSearch] = useState("");
  const metrics = [...(searches ? [FOUND] : []), ...known].map(metricOf);
  const matching = found(metrics, search, (metric) => `${metric.label} ${metric.group} ${metric.name}`);
  const groups = [...new Set(matching.map(({ group }) => group))];
  const refusal = (on: boolean) =>
    on && chosen.length === 1 ? "At least one metric is shown" : !on && chosen.length >= METRICS_MAX ? `At most ${METRICS_MAX}: remove another one first` : "";
  const [first] = chosen;
  return (
    <Menu
      className="btn"
      title="Choose metrics"
      label={
        <>
          {chosen.length === 1 && first ? metricTitle(metricOf(first)) : plural(chosen.length, "metric")}
          <Icon name="down" small />
        </>
      }
    >
      {() => (
        <div className="metric-menu">
          <label className="find">
            <Icon name="search" />
            <input autoFocus aria-label="Search metrics" placeholder="Search metrics" value={search} onChange={(event) => setSearch(event.target.value)} />
          </label>
          <div className="scroll">
            {groups.map((group) => (
              <div key={group} role="group" aria-label={group}>
                <h3>{group}</h3>
                {matching
                  .filter((metric) => metric.group === group)
                  .map((metric) => {
                    const on = chosen.includes(metric.name);
                    const why = refusal(on);
                    return (
                      <label key={metric.name} title={why || metric.name}>
                        <input
                          type="checkbox"
                          checked={on}
                          disabled={Boolean(why)}
                          onChange={() => onChange(on ? chosen.filter((name) => name !== metric.name) : [...chosen, metric.name])}
                        />
                        <span className="ell">{metricTitle(metric)}</span>
                        <span />
                      </label>
                    );
                  })}
              </div>
            ))}
            {!matching.length && <p className="mut small">{known.length ? `No metric matches “${search}”.` : "Nothing measured yet."}</p>}
          </div>
        </div>
      )}
    </Menu>
  );
}
