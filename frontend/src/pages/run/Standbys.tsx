import { plural, short } from "../../lib/format";
import { distance, standbysAt, type PairAt } from "../../model/run/standbys";
import { strip } from "../../model/run/stores";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";
import { Moment } from "./Outages";
import { ValueStrip } from "./ValueStrip";

/** As many frames as the strips show. */
const FRAMES = 240;
const count = (value: number) => short(Math.round(value));

/** Standbys at the moment held: whose results are sent, how far their standbys are, and what takeovers have done. */
export function Standbys() {
  const log = useLiveRun((state) => state.log);
  const frames = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const n = moment_s === null ? frames - 1 : Math.min(log.numberAt(moment_s), frames - 1);
  const now = standbysAt(log, n);
  if (!now) return <Empty icon="clock" title="No frame has come yet, so nothing is known of the standbys" />;
  const { news, pairs, takeovers } = now;
  return (
    <div className="stores scroll" tabIndex={0} role="region" aria-label="Standbys" data-testid="standbys">
      <p className={`about ${news.ready < pairs.length ? "warn" : ""}`}>
        <b>
          {news.ready} of {plural(pairs.length, "instance")} {news.ready === 1 ? "has" : "have"} a standby
        </b>
        {news.ready < pairs.length && <span>A host that comes back is empty, and takes over nothing</span>}
      </p>
      <div className="courses">
        <ValueStrip title="Results held back" unit={count} {...strip(log, "standbys", "held", n, FRAMES)} />
      </div>
      <section className="outages" data-testid="takeovers">
        {news.ready > 0 && (
          <p className="about">
            <span title="Of all instances together">If their hosts were lost now, standbys would send {plural(news.held, "result")} that they hold back</span>
          </p>
        )}
        {takeovers.map(({ host, lost_s, says, tone }) => (
          <div key={`${host} ${lost_s}`} className="outage">
            <p>
              <Moment at_s={lost_s} />{" "}
              <b className={tone}>
                {host} {says}
              </b>
            </p>
          </div>
        ))}
      </section>
      <Pairs pairs={pairs} />
    </div>
  );
}

function Pairs({ pairs }: { pairs: PairAt[] }) {
  return (
    <table className="table" data-testid="standby-table">
      <thead>
        <tr>
          <th>Operator</th>
          <th title="The instance whose results sinks receive">Sends results</th>
          <th>Standby</th>
          <th className="num" title="Results of the standby that its sinks have not had from the operator">
            Held back
          </th>
          <th className="num" title="Records of the input that the standby has processed less than its operator, or more">
            Standby is
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ operator, sends, on, standby, lost, active, held, behind }) => (
          <tr key={operator}>
            <td>{operator}</td>
            <td>{lost === 0 && active === 0 ? "none, until the takeover" : `${sends} on ${on}`}</td>
            <td>{standby === null ? "none" : `on ${standby}`}</td>
            <td className="num">{standby === null ? "–" : held.toLocaleString("en")}</td>
            <td className="num">{standby === null ? "–" : distance(behind)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
