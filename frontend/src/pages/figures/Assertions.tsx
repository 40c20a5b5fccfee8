import type { Assertion } from "../../api/figure";
import type { Reproduction } from "../../api/types";
import { sideText } from "../../model/figure/figure";
import { MeasuredSides } from "../../ui/MeasuredSides";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { VerdictBadge } from "../../ui/VerdictBadge";
import { UnderWayBadge } from "./status";

/** What we accept, apart from what the paper claims: each assertion with what was compared, the tolerance, the verdict and its reason. */
export function Assertions({
  assertions,
  section,
  underWay,
}: {
  assertions: Assertion[];
  section: string;
  /** What is being measured at the scale shown. */
  underWay: Reproduction | undefined;
}) {
  return (
    <section className="panel" aria-label="Assertions" data-testid="assertions">
      <div className="ph">
        <h2>Assertions</h2>
        <span className="mut">{section && /^[\d.]+$/.test(section) ? `on section ${section}, our tolerances` : "our tolerances"}</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Assertions, table">
        <table className="table assertions">
          <TableHead columns={["Id", "Statement", ofNumbers("Measured"), "Verdict"]} />
          <tbody>
            {assertions.map((one) => (
              <tr key={one.id} data-testid={`assertion-${one.id}`}>
                <td className="id">{one.id}</td>
                <td>
                  {one.text}
                  {one.consistency && <small className="why">Consistency check: true by construction here, and not counted.</small>}
                  <details>
                    <summary>{one.tolerance === null ? "check" : `check, tolerance ${one.tolerance}`}</summary>
                    <code className="mono">{one.check}</code>
                  </details>
                  {one.reason && <small className="why">{one.reason}</small>}
                  {one.unmet && (
                    <small className="why">
                      {one.unmet.why} <time dateTime={one.unmet.on}>({one.unmet.on})</time>
                    </small>
                  )}
                </td>
                <MeasuredSides sides={one.sides.filter(({ text }) => text !== "tolerance")} valueOf={sideText} />
                <td>
                  {underWay && one.state === "not run" ? <UnderWayBadge row={underWay} /> : <VerdictBadge state={one.state} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
