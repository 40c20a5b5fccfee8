import { plural } from "../../../lib/format";
import { differences } from "../../../model/document/diff";
import { TableHead } from "../../../ui/TableHead";

const ROWS_MAX = 200;

/** A pointer may go on in the next line behind a slash. */
const breakable = (pointer: string) => pointer.replaceAll("/", "/\u200b");

/** The differences of two documents without where things stand on the canvas. */
export const meant = (one: unknown, other: unknown) => differences(one, other).filter(({ pointer }) => !/^\/ui(\/|$)/.test(pointer));

/** Where two documents differ. names: what each of them is called. */
export function Differences({ one, other, names }: { one: unknown; other: unknown; names: [string, string] }) {
  const all = differences(one, other);
  const rows = meant(one, other);
  return (
    <div className="scroll">
      {rows.length > 0 && (
        <table className="table diff">
          <TableHead columns={["Field", ...names]} />
          <tbody>
            {rows.slice(0, ROWS_MAX).map((row) => (
              <tr key={row.pointer}>
                <td className="mono">{breakable(row.pointer || "/")}</td>
                <td className="mono">{JSON.stringify(row.mine) ?? "–"}</td>
                <td className="mono">{JSON.stringify(row.theirs) ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length > ROWS_MAX && <p className="mut">and {plural(rows.length - ROWS_MAX, "difference")} more</p>}
      {rows.length < all.length && <p className="mut small">Positions on the canvas differ{rows.length ? ", too" : " only"}.</p>}
      {!all.length && <p className="mut">No differences.</p>}
    </div>
  );
}
