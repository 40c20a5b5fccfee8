import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { upload } from "../../api/client";
import type { Dataset } from "../../api/types";
import type { Tagged } from "../../model/document";
import { Dialog } from "../../ui/Dialog";
import { bytes } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { addItem } from "../commands";
import { useRegistry } from "../useRegistry";

type Replay = "recorded" | "faster" | "rate";

/** Upload a CSV or Parquet file, see the schema that was inferred, choose the timestamp and how it is replayed, add it as a source. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const { kinds } = useRegistry();
  const [dataset, setDataset] = useState<Dataset | null>(null);
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [over, setOver] = useState(false);
  const [timestamp, setTimestamp] = useState("");
  const [replay, setReplay] = useState<Replay>("recorded");
  const [speed, setSpeed] = useState(10);
  const [perSecond, setPerSecond] = useState(1000);

  const send = async (file: File | undefined) => {
    if (!file) return;
    setError("");
    setBusy(`Reading ${file.name}, ${bytes(file.size)}`);
    try {
      const form = new FormData();
      form.append("file", file);
      const answer = await upload<Dataset>("/api/datasets", form);
      setDataset(answer);
      setTimestamp(answer.timestamps[0] ?? "");
      void client.invalidateQueries({ queryKey: ["datasets"] });
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    } finally {
      setBusy("");
    }
  };

  const rate: Tagged =
    replay === "rate" ? { kind: "constant", per_s: perSecond } : { kind: "recorded", speed: replay === "faster" ? speed : 1 };
  const blocked = !dataset ? "Choose a file first." : !timestamp ? "This file has no column that can serve as timestamp." : "";
  const add = () => {
    if (!dataset || blocked) return;
    addItem(
      { part: "source", name: dataset.name.replace(/\.\w+$/, ""), stream: { kind: "file", dataset: dataset.name, timestamp }, rate },
      kinds,
    );
    onClose();
  };

  return (
    <Dialog
      title="Upload a file as a source"
      wide
      onClose={onClose}
      footer={
        <>
          {blocked && <span className="mut small grow">{blocked}</span>}
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button className="btn primary" disabled={Boolean(blocked)} title={blocked} onClick={add}>
            Add as source
          </button>
        </>
      }
    >
      {!dataset && (
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
            data-testid="upload-file"
            onChange={(event) => void send(event.target.files?.[0])}
          />
        </label>
      )}
      {error && (
        <p className="remark err" role="alert">
          <Icon name="crossc" small />
          <span>{error}</span>
        </p>
      )}
      {dataset && (
        <>
          <p>
            <b>{dataset.name}</b>{" "}
            <span className="mut">
              {dataset.rows.toLocaleString("en-US")} rows, {bytes(dataset.bytes)}, {dataset.columns.length} columns
            </span>
          </p>
          <div className="scroll columns">
            <table className="table">
              <thead>
                <tr>
                  <th>Column</th>
                  <th>Type</th>
                  <th>First values</th>
                </tr>
              </thead>
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
          <div className="two">
            <div className="field">
              <label htmlFor="timestamp">
                Timestamp<i>event time of a record</i>
              </label>
              <div className="in">
                <select id="timestamp" value={timestamp} onChange={(event) => setTimestamp(event.target.value)}>
                  {!dataset.timestamps.length && <option value="">no column can serve</option>}
                  {dataset.timestamps.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
                <Icon name="down" />
              </div>
            </div>
            <div className="field">
              <label>Replay</label>
              <div className="seg" role="radiogroup" aria-label="Replay">
                {(
                  [
                    ["recorded", "Own times"],
                    ["faster", "n × as fast"],
                    ["rate", "At a rate"],
                  ] as const
                ).map(([value, text]) => (
                  <label key={value}>
                    <input type="radio" name="replay" checked={replay === value} onChange={() => setReplay(value)} />
                    {text}
                  </label>
                ))}
              </div>
            </div>
          </div>
          {replay === "faster" && (
            <NumberField
              id="speed"
              label="Speed"
              unit="×"
              value={speed}
              onChange={setSpeed}
              help="Seconds of the file that pass in one second of virtual time."
            />
          )}
          {replay === "rate" && (
            <NumberField
              id="rate"
              label="Rate"
              unit="records/s"
              value={perSecond}
              onChange={setPerSecond}
              help="Records keep their order; their own times serve as event time."
            />
          )}
        </>
      )}
    </Dialog>
  );
}

function NumberField({
  id,
  label,
  unit,
  value,
  onChange,
  help,
}: {
  id: string;
  label: string;
  unit: string;
  value: number;
  onChange: (value: number) => void;
  help: string;
}) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="in">
        <input id={id} type="number" min={0} step="any" value={value} onChange={(event) => onChange(Number(event.target.value))} />
        <span>{unit}</span>
      </div>
      <p>{help}</p>
    </div>
  );
}
