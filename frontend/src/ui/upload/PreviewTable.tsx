import { type ComponentProps, useId, useState } from "react";
import type { Json, ReadColumn, UploadPreview } from "../../api/types";
import { plural } from "../../lib/format";
import { Remarks } from "../form/Remarks";
import { Icon } from "../Icon";
import { type ColumnChoice, COLUMNS_SHOWN_MAX, fillOf, problemsOf, reasonsOf } from "./choices";
import { Typed } from "./Typed";

const TYPES: ReadColumn["type"][] = ["int", "float", "bool", "string", "timestamp"];
const LEFT_OUT = "left out";
const FORMATS = ["iso", "s", "ms", "us", "ns", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%Y%m%d %H:%M:%S"];

/** The first rows of a file. The head of each column has its name and type, as chosen, and says what is wrong with it. */
export function PreviewTable({
  preview,
  chosen,
  onChange,
}: {
  preview: UploadPreview;
  chosen: readonly ReadColumn[];
  onChange: (at: number, change: ColumnChoice) => void;
}) {
  const [isRead, setIsRead] = useState(true);
  const formats = useId();
  const columns = preview.reading.columns.slice(0, COLUMNS_SHOWN_MAX);
  const hidden = preview.reading.columns.length - columns.length;
  return (
    <section className="first-rows">
      <header>
        <h3>
          {preview.written.length < preview.rows
            ? `First ${preview.written.length} of ${plural(preview.rows, "row")} read`
            : plural(preview.rows, "row")}
          {hidden > 0 && <span className="mut">, {plural(hidden, "more column")} as detected</span>}
        </h3>
        <div className="seg" role="radiogroup" aria-label="Cells">
          {([true, false] as const).map((value) => (
            <label key={String(value)}>
              <input type="radio" name="cells" checked={isRead === value} onChange={() => setIsRead(value)} />
              {value ? "As read" : "As written"}
            </label>
          ))}
        </div>
      </header>
      <datalist id={formats}>
        {FORMATS.map((format) => (
          <option key={format} value={format} />
        ))}
      </datalist>
      <div className="scroll" tabIndex={0} role="region" aria-label="First rows of the file">
        <table className="table">
          <thead>
            <tr>
              {columns.map((column, at) => (
                <th key={at} scope="col">
                  <ColumnHead
                    column={chosen[at] ?? column}
                    at={at}
                    preview={preview}
                    formats={formats}
                    onChange={(change) => onChange(at, change)}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.written.map((row, number) => (
              <tr key={number}>
                {columns.map((column, at) => (
                  <PreviewCell
                    key={at}
                    column={column}
                    written={row[at] ?? ""}
                    read={preview.read[number]?.[at] ?? null}
                    nulls={preview.reading.nulls}
                    isRead={isRead}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {!preview.written.length && <p className="mut none">No row to show.</p>}
      </div>
    </section>
  );
}

function ColumnHead({
  column,
  at,
  preview,
  formats,
  onChange,
}: {
  column: ReadColumn;
  at: number;
  preview: UploadPreview;
  formats: string;
  onChange: (change: ColumnChoice) => void;
}) {
  const problems = problemsOf(preview, at);
  const label = `column ${at + 1}`;
  const isFillable = column.keep && column.type !== "string" && (column.fill !== undefined || (preview.missing[at] ?? 0) + (preview.bad[at] ?? 0) > 0);
  return (
    <div className="head">
      <HeadField label={`Name of ${label}`} value={column.name} isOff={!column.keep} onTake={(name) => onChange({ name })} />
      <div className="in">
        <select
          aria-label={`Type of ${label}`}
          value={column.keep ? column.type : LEFT_OUT}
          onChange={({ target: { value } }) =>
            onChange(value === LEFT_OUT ? { keep: false } : { keep: true, type: value as ReadColumn["type"], time_format: undefined, fill: undefined })
          }
        >
          {TYPES.map((type) => (
            <option key={type}>{type}</option>
          ))}
          <option value={LEFT_OUT}>leave out</option>
        </select>
        <Icon name="down" />
      </div>
      {column.keep && column.type === "timestamp" && (
        <HeadField
          label={`Time format of ${label}`}
          title="iso; s, ms, us or ns since 1970; or a pattern of %Y %m %d %H %M %S"
          value={column.time_format ?? "iso"}
          list={formats}
          onTake={(time_format) => onChange({ time_format })}
        />
      )}
      {isFillable && (
        <HeadField
          label={`Value for missing cells of ${label}`}
          placeholder="for missing cells"
          value={column.fill === undefined ? "" : String(column.fill)}
          onTake={(text) => onChange({ fill: fillOf(text, column.type) })}
        />
      )}
      {problems.length > 0 ? (
        <Remarks problems={problems} />
      ) : (
        reasonsOf(preview, `/columns/${at}/type`).map((text) => (
          <p key={text} className="mut">
            {text}
          </p>
        ))
      )}
    </div>
  );
}

/** A text of the column's head. */
function HeadField({ label, title, isOff = false, ...rest }: ComponentProps<typeof Typed> & { label: string; isOff?: boolean }) {
  return (
    <div className={`in ${isOff ? "off" : ""}`}>
      <Typed {...rest} aria-label={label} dir="auto" disabled={isOff} title={isOff ? "The column is left out." : title} />
    </div>
  );
}

function PreviewCell({
  column,
  written,
  read,
  nulls,
  isRead,
}: {
  column: ReadColumn;
  written: string;
  read: Json;
  nulls: string[];
  isRead: boolean;
}) {
  const isNumber = column.type === "int" || column.type === "float";
  const kind = kindOf(column, written, read, nulls);
  const text = kind === "missing" ? "no value" : kind === "bad" || kind === "left-out" ? written : shownOf(read, written);
  const shown = isRead ? text : written;
  const title = kind === "missing" ? `written: ${written || "nothing"}` : kind === "bad" ? `not of type ${column.type}: ${written}` : shown;
  return (
    <td className={`ell ${kind} ${isNumber && isRead ? "num" : ""}`} title={title} dir="auto">
      {shown}
    </td>
  );
}

function kindOf({ keep, type }: ReadColumn, written: string, read: Json, nulls: string[]): "left-out" | "missing" | "bad" | "" {
  if (!keep) return "left-out";
  if (type === "string" || read !== null) return "";
  const word = written.trim();
  return !word || nulls.includes(word) ? "missing" : "bad";
}

/** A value as text. A whole number of more digits than JavaScript has stays as it is written. */
function shownOf(value: Json, written: string): string {
  if (typeof value === "string") return value.replace(/(T\d\d:\d\d:\d\d)\.0+Z$/, "$1Z");
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? written.trim() : String(value);
}
