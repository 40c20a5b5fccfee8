import { useQuery } from "@tanstack/react-query";
import { datasetQuery } from "../../api/queries";
import type { Dataset, DatasetDetail, Reading } from "../../api/types";
import { plural } from "../../lib/format";
import { Failure, Loading } from "../states";
import { MARKS } from "./choices";
import "./upload.css";

/** How the file of a data set was read, and what that left out. */
export function ReadingSummary({ dataset }: { dataset: Dataset }) {
  const { data, error, refetch } = useQuery(datasetQuery(dataset.id));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  return (
    <dl className="read-as">
      {factsOf(data).map(([term, text]) => (
        <div key={term} style={{ display: "contents" }}>
          <dt>{term}</dt>
          <dd className={term === "Hash" ? "mono" : ""}>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

export function factsOf({ reading, counts, hash }: Pick<DatasetDetail, "reading" | "counts" | "hash">): [string, string][] {
  const facts: [string, string][] = reading
    ? [["Cells", cellsOf(reading)], ["Columns", columnsOf(reading)]]
    : [["Read", counts ? "a Parquet file, with its own types" : "uploaded before readings were kept"]];
  if (counts?.rows_skipped) facts.push(["Skipped", `${plural(counts.rows_skipped, "row")} of ${counts.rows.toLocaleString("en-US")}, without a value`]);
  const lacking = counts ? [...told(counts.missing, "no value"), ...told(counts.bad, "the wrong type")] : [];
  if (lacking.length) facts.push(["Missing", lacking.join("; ")]);
  if (hash) facts.push(["Hash", hash]);
  return facts;
}

const told = (cells: Record<string, number>, what: string) => Object.entries(cells).map(([name, count]) => `${name}: ${plural(count, "cell")} with ${what}`);

function cellsOf({ delimiter, decimal, thousands, header }: Reading): string {
  const parts = [`separated by ${MARKS[delimiter] ?? delimiter}`, `decimal ${MARKS[decimal] ?? decimal}`];
  if (thousands) parts.push(`thousands by ${MARKS[thousands] ?? thousands}`);
  if (!header) parts.push("no header");
  return parts.join(", ");
}

/** What differs from taking a column as the file has it. */
function columnsOf({ columns }: Reading): string {
  const parts = columns.flatMap((column) => {
    if (!column.keep) return [`${column.written} left out`];
    const renamed = column.name === column.written ? "" : ` is ${column.name}`;
    const time = column.type === "timestamp" ? ` (${[column.time_format, column.time_zone].filter(Boolean).join(", ")})` : "";
    const fill = column.fill === undefined ? "" : `, ${String(column.fill)} for missing`;
    return renamed || time || fill ? [`${column.written}${renamed}${time}${fill}`] : [];
  });
  return parts.length ? parts.join("; ") : "as in the file";
}
