import { type ReactNode, useId, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import type { Reading } from "../../api/types";
import { bytes } from "../../lib/format";
import { Remarks } from "../form/Remarks";
import { Icon } from "../Icon";
import { Empty, Loading } from "../states";
import { type Chosen, documentOf, MARKS, NOTHING_CHOSEN, otherProblems, reasonsOf, refusalOf, shownOf, withColumn, withFrame, wordsOf } from "./choices";
import { PreviewTable } from "./PreviewTable";
import { Typed } from "./Typed";
import { usePreview } from "./usePreview";
import "./upload.css";

const REFUSED = 422;
const DELIMITERS: Reading["delimiter"][] = [",", ";", "\t", "|"];
const THOUSANDS: Reading["thousands"][] = ["", ".", ",", " ", "'"];
const named = <Mark extends string>(marks: Mark[]): [Mark, string][] => marks.map((mark) => [mark, MARKS[mark] ?? "none"]);

/** How a file of text is read: its first rows, the choices for the file and for each column, and the upload. */
export function ReadingEditor({
  file,
  busy,
  error,
  onUpload,
  onBack,
}: {
  file: File;
  /** What is being done, while the upload is in progress. */
  busy: string;
  error: string;
  onUpload: (name: string, reading: Reading) => void;
  onBack: () => void;
}) {
  const [chosen, setChosen] = useState<Chosen>(NOTHING_CHOSEN);
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ""));
  const document = useMemo(() => documentOf(chosen), [chosen]);
  const { preview, error: unreadable, isCurrent, retry } = usePreview(file, document);
  const names = preview?.reading.columns.map((column) => column.written);
  const choose = (change: Partial<Chosen>) => setChosen({ ...chosen, ...change });
  if (names && isCurrent && !unreadable && names.join("\n") !== chosen.written.join("\n")) choose({ written: names });
  const refusal = unreadable ? "The file cannot be read like this." : refusalOf(preview, name) || (isCurrent ? "" : "The file is being read.") || busy;

  if (!preview) return unreadable ? <Unreadable file={file} error={unreadable} onBack={onBack} retry={() => void retry()} /> : <Loading />;
  const reading = shownOf(preview.reading, chosen);
  const hasTimes = reading.columns.some((column) => column.keep && column.type === "timestamp");
  return (
    <form
      className="reading-editor"
      aria-busy={!isCurrent}
      onSubmit={(event) => {
        event.preventDefault();
        if (!refusal) onUpload(name.trim(), preview.reading);
      }}
    >
      <div className="choices">
        <Choice label="Name" hint="in documents">
          {(id) => (
            <div className="in">
              <input id={id} value={name} onChange={(event) => setName(event.target.value)} />
            </div>
          )}
        </Choice>
        <Select label="Separator" of={named(DELIMITERS)} value={reading.delimiter} onChange={(delimiter) => setChosen(withFrame(chosen, { delimiter }))} />
        <Select
          label="First row"
          of={[["names", "names of columns"], ["data", "data"]]}
          value={reading.header ? "names" : "data"}
          reasons={reasonsOf(preview, "/header")}
          onChange={(value) => setChosen(withFrame(chosen, { header: value === "names" }))}
        />
        <Select
          label="Decimal mark"
          of={[[".", "point, 1.5"], [",", "comma, 1,5"]]}
          value={reading.decimal}
          reasons={reasonsOf(preview, "/decimal")}
          onChange={(decimal) => choose({ decimal, ...(chosen.thousands === decimal ? { thousands: "" } : {}) })}
        />
        <Select label="Thousands mark" of={named(THOUSANDS)} value={reading.thousands} onChange={(thousands) => choose({ thousands })} />
        <Choice label="Null values">
          {(id) => (
            <div className="in">
              <Typed
                id={id}
                value={reading.nulls.join(", ")}
                title={`Besides empty cells: ${reading.nulls.join(", ") || "none"}`}
                onTake={(words) => choose({ nulls: wordsOf(words) })}
              />
            </div>
          )}
        </Choice>
        <TimeZone hasTimes={hasTimes} zone={chosen.zone ?? ""} onChange={(zone) => choose({ zone })} />
        <Select
          label="Missing values"
          of={[["refuse", "refuse the file"], ["skip_row", "skip the row"]]}
          value={reading.missing}
          onChange={(missing) => choose({ missing })}
        />
        <Select
          label="Cells of the wrong type"
          of={[["refuse", "refuse the file"], ["null", "treat as missing"]]}
          value={reading.bad_cells}
          onChange={(bad_cells) => choose({ bad_cells })}
        />
      </div>
      <div role="alert">
        <Remarks problems={otherProblems(preview)} />
      </div>
      {unreadable && (
        <Wrong>
          {unreadable.message}{" "}
          {!isRefused(unreadable) && (
            <button type="button" className="link" onClick={() => void retry()}>
              Try again
            </button>
          )}
        </Wrong>
      )}
      <PreviewTable preview={preview} chosen={reading.columns} onChange={(at, change) => setChosen(withColumn(chosen, at, change))} />
      {error && <Wrong>{error}</Wrong>}
      <div className="send">
        <span className="mut small grow" role="status">
          {busy || (refusal ? refusal : `${file.name}, ${bytes(file.size)}`)}
        </span>
        <button type="button" className="btn" onClick={onBack} disabled={Boolean(busy)} title={busy}>
          Other file
        </button>
        <button className="btn primary" disabled={Boolean(refusal)} title={refusal}>
          <Icon name="upload" />
          Upload
        </button>
      </div>
    </form>
  );
}

const isRefused = (error: Error) => error instanceof ApiError && error.status === REFUSED;

/** A file that is no text cannot be read in any way; a server that is away can be asked again. */
function Unreadable({ file, error, onBack, retry }: { file: File; error: Error; onBack: () => void; retry: () => void }) {
  const ways = (
    <span className="ways">
      {!isRefused(error) && (
        <button className="btn" onClick={retry}>
          <Icon name="rerun" />
          Try again
        </button>
      )}
      <button className="btn" onClick={onBack}>
        Other file
      </button>
    </span>
  );
  return (
    <div role="alert">
      <Empty icon="warn" title={`${file.name} cannot be read`} action={ways}>
        {error.message}
      </Empty>
    </div>
  );
}

function Wrong({ children }: { children: ReactNode }) {
  return (
    <p className="remark err" role="alert">
      <Icon name="crossc" small />
      <span>{children}</span>
    </p>
  );
}

function Choice({ label, hint = "", help = "", children }: { label: string; hint?: string; help?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {hint && <i>{hint}</i>}
      </label>
      {children(id)}
      {help && <p>{help}</p>}
    </div>
  );
}

function Select<Value extends string>({
  label,
  of,
  value,
  reasons = [],
  onChange,
}: {
  label: string;
  of: [Value, string][];
  value: Value;
  reasons?: string[];
  onChange: (value: Value) => void;
}) {
  return (
    <Choice label={label} help={reasons.join("; ")}>
      {(id) => (
        <div className="in">
          <select id={id} value={value} onChange={(event) => onChange(event.target.value as Value)}>
            {of.map(([one, text]) => (
              <option key={one} value={one}>
                {text}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
      )}
    </Choice>
  );
}

function TimeZone({ hasTimes, zone, onChange }: { hasTimes: boolean; zone: string; onChange: (zone: string) => void }) {
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  const list = useId();
  return (
    <Choice label="Time zone" hint="of times without one">
      {(id) => (
        <div className={`in ${hasTimes ? "" : "off"}`}>
          <Typed
            id={id}
            list={list}
            placeholder="UTC"
            disabled={!hasTimes}
            title={hasTimes ? "" : "No column has the type timestamp."}
            value={zone}
            onTake={(text) => onChange(text.trim())}
          />
          <datalist id={list}>
            {zones.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </div>
      )}
    </Choice>
  );
}
