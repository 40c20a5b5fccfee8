import type { Dataset } from "../../api/types";
import { bytes, plural } from "../../lib/format";
import { TableHead } from "../TableHead";

/** What a data set holds: its size, and each column with its type and first values. */
export function ColumnTable({ dataset }: { dataset: Dataset }) {
  return (
    <>
      <p>
        <b>{dataset.name}</b>{" "}
        <span className="mut">
          {plural(dataset.rows, "row")}, {bytes(dataset.bytes)}, {plural(dataset.columns.length, "column")}
        </span>
      </p>
      <div className="scroll columns" tabIndex={0} role="region" aria-label={`Columns of ${dataset.name}`}>
        <table className="table">
          <TableHead columns={["Column", "Type", "First values"]} />
          <tbody>
            {dataset.columns.map((column) => (
              <tr key={column.name}>
                <td className="mono">{column.name}</td>
                <td>{column.type}</td>
                <td className="mut ell">{column.sample.slice(0, 4).map(String).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
