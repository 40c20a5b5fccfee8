import { type ReactNode, useId, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import type { Reading } from "../../api/types";
import { bytes } from "../../lib/format";
import { Remarks } from "../form/Remarks";
import { Icon } from "../Icon";
import { Empty, Failure, Loading } from "../states";
import { type Chosen, documentOf, NOTHING_CHOSEN, otherProblems, reasonsOf, refusalOf, withColumn, withFrame, wordsOf } from "./choices";
import { PreviewTable } from "./PreviewTable";
import { usePreview } from "./usePreview";
import "./upload.css";

const REFUSED = 422;
const DELIMITERS: [Reading["delimiter"], string][] = [[",", "comma"], [";", "semicolon"], ["\t", "tab"], ["|", "bar"]];
const THOUSANDS: [Reading["thousands"], string][] = [["", "none"], [".", "point"], [",", "comma"], [" ", "space"], ["'", "apostrophe"]];

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
  const [written, setWritten] = useState<string[]>([]);
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ""));
  const document = useMemo(() => documentOf(chosen, written), [chosen, written]);
  const { preview, error: unreadable, isCurrent, retry } = usePreview(file, document);
  const names = preview?.reading.columns.map((column) => column.written);
  if (names && isCurrent && names.join("\n") !== written.join("\n")) setWritten(names);
  const choose = (change: Partial<Chosen>) => setChosen({ ...chosen, ...change });
  const refusal = unreadable ? "The file cannot be read like this." : refusalOf(preview, name) || (isCurrent ? "" : "The file is being read.") || busy;

  if (!preview) return unreadable ? <Unreadable file={file} error={unreadable} onBack={onBack} retry={() => void retry()} /> : <Loading />;
  const { reading } = preview;
  const hasTimes = reading.columns.some((column) => column.keep && column.type === "timestamp");
  return (
    <form
      className="reading"
      aria-busy={!isCurrent}
      onSubmit={(event) => {
        event.preventDefault();
        if (!refusal) onUpload(name.trim(), reading);
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
        <Select label="Separator" of={DELIMITERS} value={reading.delimiter} onChange={(delimiter) => setChosen(withFrame(chosen, { delimiter }))} />
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
          onChange={(decimal) => choose({ decimal, thousands: chosen.thousands === decimal ? "" : chosen.thousands })}
        />
        <Select label="Thousands mark" of={THOUSANDS} value={reading.thousands} onChange={(thousands) => choose({ thousands })} />
        <NullWords words={reading.nulls} onChange={(nulls) => choose({ nulls })} />
        <TimeZone hasTimes={hasTimes} zone={chosen.zone ?? ""} onChange={(zone) => choose({ zone })} />
        <Select
          label="Missing values"
          of={[["refuse", "refuse the file"], ["skip_row", "skip the row"]]}
          value={reading.missing}
          onChange={(missing) => choose({ missing })}
        />
        <Select
          label="Cells of another type"
          of={[["refuse", "refuse the file"], ["null", "take for missing"]]}
          value={reading.bad_cells}
          onChange={(bad_cells) => choose({ bad_cells })}
        />
      </div>
      <div role="alert">
        <Remarks problems={otherProblems(preview)} />
      </div>
      {unreadable && <Wrong>{unreadable.message}</Wrong>}
      <PreviewTable preview={preview} onChange={(at, change) => setChosen(withColumn(chosen, at, change))} />
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

/** A file that is no text cannot be read in any way; a server that is away can be asked again. */
function Unreadable({ file, error, onBack, retry }: { file: File; error: Error; onBack: () => void; retry: () => void }) {
  const isRefused = error instanceof ApiError && error.status === REFUSED;
  const other = (
    <button className="btn" onClick={onBack}>
      Other file
    </button>
  );
  if (!isRefused) return <Failure error={error} retry={retry} />;
  return (
    <div role="alert">
      <Empty icon="warn" title={`${file.name} cannot be read`} action={other}>
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

function NullWords({ words, onChange }: { words: string[]; onChange: (words: string[]) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = words.join(", ");
  const take = () => {
    if (typed !== null && typed !== shown) onChange(wordsOf(typed));
    setTyped(null);
  };
  return (
    <Choice label="Words for no value">
      {(id) => (
        <div className="in">
          <input
            id={id}
            value={typed ?? shown}
            title={`Besides empty cells: ${shown || "none"}`}
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
            onBlur={take}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              take();
            }}
          />
        </div>
      )}
    </Choice>
  );
}

function TimeZone({ hasTimes, zone, onChange }: { hasTimes: boolean; zone: string; onChange: (zone: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  const list = useId();
  const take = () => {
    if (typed !== null && typed.trim() !== zone) onChange(typed.trim());
    setTyped(null);
  };
  return (
    <Choice label="Time zone" hint="of times without one">
      {(id) => (
        <div className={`in ${hasTimes ? "" : "off"}`}>
          <input
            id={id}
            list={list}
            placeholder="UTC"
            disabled={!hasTimes}
            title={hasTimes ? "" : "No column has the type timestamp."}
            value={typed ?? zone}
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
            onBlur={take}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              take();
            }}
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
