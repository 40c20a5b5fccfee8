import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, upload } from "../../api/client";
import type { Dataset, Reading } from "../../api/types";
import { bytes } from "../../lib/format";
import { Icon } from "../Icon";
import { ReadingEditor } from "./ReadingEditor";

const NAME_TAKEN = 409;
const PARQUET_START = "PAR1";

/** A Parquet file has types of its own, so that nothing is to be chosen. */
async function isParquet(file: File): Promise<boolean> {
  return /\.(parquet|pq)$/i.test(file.name) || (await file.slice(0, PARQUET_START.length).text()) === PARQUET_START;
}

/** Where a CSV or Parquet file is dropped or chosen, and sent. A CSV file is shown first, with what can be chosen about it. */
export function FileDrop({ onUploaded }: { onUploaded: (dataset: Dataset) => void }) {
  const client = useQueryClient();
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [over, setOver] = useState(false);
  /** A file of text, to be looked at. */
  const [shown, setShown] = useState<File | null>(null);
  /** A Parquet file whose name is taken, and what it is to be called instead. */
  const [unnamed, setUnnamed] = useState<{ file: File; name: string } | null>(null);

  /** The upload under way: it ends with the dialog. */
  const sending = useRef<AbortController | null>(null);
  useEffect(() => () => sending.current?.abort(), []);

  const send = async (file: File, name: string, reading: Reading | null) => {
    const { signal } = (sending.current = new AbortController());
    setError("");
    setBusy(`Sending ${file.name}, ${bytes(file.size)}`);
    try {
      const form = new FormData();
      form.append("file", file);
      form.append("name", name);
      if (reading) form.append("reading", JSON.stringify(reading));
      const dataset = await upload<Dataset>("/api/datasets", form, signal);
      void client.invalidateQueries({ queryKey: ["datasets"] });
      if (signal.aborted) return;
      onUploaded(dataset);
    } catch (problem) {
      if (signal.aborted) return;
      setError(problem instanceof Error ? problem.message : String(problem));
      const isTaken = problem instanceof ApiError && problem.status === NAME_TAKEN;
      setUnnamed(!reading && (isTaken || name) ? { file, name: name || `${file.name.replace(/\.\w+$/, "")} 2` } : null);
    } finally {
      setBusy("");
    }
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    setError("");
    setUnnamed(null);
    if (!file.size) return setError(`${file.name} is empty; a file must have a header line and at least one row.`);
    let hasTypes;
    try {
      hasTypes = await isParquet(file);
    } catch {
      return setError(`${file.name} cannot be read; choose a file, not a folder.`);
    }
    if (hasTypes) await send(file, "", null);
    else setShown(file);
  };
  const leave = () => {
    setShown(null);
    setError("");
  };

  if (shown) {
    const sendAs = (name: string, reading: Reading) => void send(shown, name, reading);
    return <ReadingEditor file={shown} busy={busy} error={error} onUpload={sendAs} onBack={leave} />;
  }
  return (
    <>
      <label
        className={`dropzone ${over ? "over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer.files[0]);
        }}
      >
        <Icon name="upload" />
        <b>{busy || "Drop a CSV or Parquet file here, or choose one"}</b>
        <span className="mut">A CSV file needs UTF-8. Its first rows are shown before it is uploaded.</span>
        <input
          type="file"
          className="vh"
          accept=".csv,.tsv,.txt,.parquet,.pq,text/csv"
          disabled={Boolean(busy)}
          title={busy}
          data-testid="upload-file"
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = ""; // the same file may be chosen again once it is mended
          }}
        />
      </label>
      {error && (
        <p className="remark err" role="alert">
          <Icon name="crossc" small />
          <span>{error}</span>
        </p>
      )}
      {unnamed && (
        <form
          className="renaming"
          onSubmit={(event) => {
            event.preventDefault();
            void send(unnamed.file, unnamed.name, null);
          }}
        >
          <div className="field">
            <label htmlFor="dataset-name">
              Name<i>of {unnamed.file.name} here</i>
            </label>
            <div className="in">
              <input
                id="dataset-name"
                value={unnamed.name}
                autoFocus
                onChange={(event) => setUnnamed({ ...unnamed, name: event.target.value })}
              />
            </div>
          </div>
          <button className="btn primary">Upload under this name</button>
        </form>
      )}
    </>
  );
}
