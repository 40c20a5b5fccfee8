import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, upload } from "../../api/client";
import type { Dataset } from "../../api/types";
import { bytes } from "../../lib/format";
import { Icon } from "../Icon";

const NAME_TAKEN = 409;

/** Where a CSV or Parquet file is dropped or chosen, and sent. A name that another data set has can be changed. */
export function FileDrop({ onUploaded }: { onUploaded: (dataset: Dataset) => void }) {
  const client = useQueryClient();
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [over, setOver] = useState(false);
  /** A file whose name is taken, and what it is to be called instead. */
  const [unnamed, setUnnamed] = useState<{ file: File; name: string } | null>(null);

  const send = async (file: File | undefined, name = "") => {
    if (!file) return;
    setError("");
    setBusy(`Reading ${file.name}, ${bytes(file.size)}`);
    try {
      const form = new FormData();
      form.append("file", file);
      form.append("name", name);
      const dataset = await upload<Dataset>("/api/datasets", form);
      void client.invalidateQueries({ queryKey: ["datasets"] });
      onUploaded(dataset);
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
      const isTaken = problem instanceof ApiError && problem.status === NAME_TAKEN;
      setUnnamed(isTaken || name ? { file, name: name || `${file.name.replace(/\.\w+$/, "")} 2` } : null);
    } finally {
      setBusy("");
    }
  };

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
          void send(event.dataTransfer.files[0]);
        }}
      >
        <Icon name="upload" />
        <b>{busy || "Drop a CSV or Parquet file here, or choose one"}</b>
        <span className="mut">A CSV needs a header line and UTF-8. Types are inferred from the values.</span>
        <input
          type="file"
          className="vh"
          accept=".csv,.parquet,.pq,text/csv"
          disabled={Boolean(busy)}
          title={busy}
          data-testid="upload-file"
          onChange={(event) => {
            void send(event.target.files?.[0]);
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
            void send(unnamed.file, unnamed.name);
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
