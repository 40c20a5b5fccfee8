import { useQuery } from "@tanstack/react-query";
import { post } from "../../../api/client";
import type { DocumentDifference, Json } from "../../../api/types";
import { plural } from "../../../lib/format";
import { differences } from "../../../model/document/diff";
import { Failure, Loading } from "../../../ui/states";
import { TableHead } from "../../../ui/TableHead";

const ROWS_MAX = 200;

const onCanvas = (pointer: string) => /^\/ui(\/|$)/.test(pointer);

/** The differences of two documents without where things stand on the canvas. */
export const meant = (one: unknown, other: unknown) => differences(one, other).filter(({ pointer }) => !onCanvas(pointer));

/** Where two documents differ, in the words of the forms. names: what each of them is called. */
export function Differences({ one, other, names }: { one: unknown; other: unknown; names: [string, string] }) {
  const moved = differences(one, other).some(({ pointer }) => onCanvas(pointer));
  const { data, error, refetch } = useQuery({
    queryKey: ["differences", one, other],
    queryFn: ({ signal }) => post<DocumentDifference[]>("/api/compare/documents", { before: one as Json, after: other as Json }, signal),
    staleTime: Infinity,
    retry: false,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  const rows = data.filter(({ path }) => !onCanvas(path));
  return (
    <div className="scroll">
      {rows.length > 0 && (
        <table className="table diff">
          <TableHead columns={["Field", ...names]} />
          <tbody>
            {rows.slice(0, ROWS_MAX).map((row) => (
              <tr key={`${row.path} ${row.text}`} title={row.path}>
                <td>{row.where ? `${row.where}: ${row.label}` : row.label}</td>
                <td className="mono">{valueText(row.before)}</td>
                <td className="mono">{valueText(row.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length > ROWS_MAX && <p className="mut">and {plural(rows.length - ROWS_MAX, "difference")} more</p>}
      {moved && <p className="mut small">Positions on the canvas differ{rows.length ? ", too" : " only"}.</p>}
      {!rows.length && !moved && <p className="mut">No differences.</p>}
    </div>
  );
}

const valueText = (value: Json) => (value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value));
