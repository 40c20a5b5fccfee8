import { Link } from "react-router";
import { isActive } from "../../api/queries";
import type { Run } from "../../api/types";
import { assertionsOf, measuredText } from "../../model/document/assertions";
import { coerceDocument } from "../../model/document/coerce";
import { MeasuredSides } from "../../ui/MeasuredSides";
import { Empty } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { VerdictBadge } from "../../ui/VerdictBadge";

/** Each assertion with what was measured, the verdict and its reason; before the end, what will be judged. */
export function Verdicts({ run }: { run: Run }) {
  if (isActive(run)) {
    return (
      <ul className="to-judge">
        {assertionsOf(coerceDocument(run.document)).map((one, at) => (
          <li key={at}>
            <b dir="auto">{one.name}</b> <code className="mono">{one.check}</code>
          </li>
        ))}
        <li className="mut small">Judged when the run ends.</li>
      </ul>
    );
  }
  if (!run.verdicts.length) return <Empty icon="askc" title="No verdicts">This run was executed by an earlier version, which did not judge assertions.</Empty>;
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Verdicts, table">
      <table className="table verdicts" data-testid="verdicts">
        <TableHead columns={["Assertion", ofNumbers("Measured"), "Verdict"]} />
        <tbody>
          {run.verdicts.map((one) => (
            <tr key={one.name}>
              <td>
                <b dir="auto">{one.name}</b>
                <code className="mono">{one.check}</code>
                {one.note && <small dir="auto">{one.note}</small>}
                {one.reason && <small className="why">{one.reason}</small>}
              </td>
              <MeasuredSides sides={one.measured} valueOf={measuredText} />
              <td>
                <VerdictBadge state={one.state} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mut small note">
        Names and units: <Link to="/help/measurements">Help, Measurements</Link>
      </p>
    </div>
  );
}
