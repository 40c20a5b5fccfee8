import { useState } from "react";
import type { Dataset, Tagged } from "../../../api/types";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { NumberInput, useUnreadInDialog } from "../../../ui/NumberInput";
import { ColumnTable } from "../../../ui/upload/ColumnTable";
import { FileDrop } from "../../../ui/upload/FileDrop";
import { addItem } from "../commands";
import { useRegistry } from "../useRegistry";

type Replay = "recorded" | "faster" | "rate";

/** Upload a CSV or Parquet file, see the schema that was inferred, choose the timestamp and how it is replayed, add it as a source. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const { kinds } = useRegistry();
  const [dataset, setDataset] = useState<Dataset | null>(null);
  const [timestamp, setTimestamp] = useState("");
  const [replay, setReplay] = useState<Replay>("recorded");
  const [speed, setSpeed] = useState<number | undefined>(10);
  const [perSecond, setPerSecond] = useState<number | undefined>(1000);

  const take = (uploaded: Dataset) => {
    setDataset(uploaded);
    setTimestamp(uploaded.timestamps[0] ?? "");
  };

  const chosen = replay === "rate" ? perSecond : replay === "faster" ? speed : 1;
  const unread = useUnreadInDialog();
  const blocked = !dataset
    ? "Choose a file first."
    : !timestamp
      ? "This file has no column that can be the timestamp."
      : unread
        ? unread
        : chosen === undefined
          ? `Enter the ${replay === "rate" ? "rate" : "speed"}.`
          : "";
  const add = () => {
    if (!dataset || chosen === undefined || blocked) return;
    const rate: Tagged = replay === "rate" ? { kind: "constant", per_s: chosen } : { kind: "recorded", speed: chosen };
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
      {!dataset && <FileDrop onUploaded={take} />}
      {dataset && (
        <>
          <ColumnTable dataset={dataset} />
          <div className="two">
            <div className="field">
              <label htmlFor="timestamp">
                Timestamp<i>event time of a record</i>
              </label>
              <div className="in">
                <select id="timestamp" value={timestamp} onChange={(event) => setTimestamp(event.target.value)}>
                  {!dataset.timestamps.length && <option value="">no suitable column</option>}
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
                    ["recorded", "Recorded times"],
                    ["faster", "n × speed"],
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
              help="Records keep their order; their recorded times are the event times."
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
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  help: string;
}) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <NumberInput id={id} label={label} unit={unit} value={value} least={0} onChange={onChange} />
      <p>{help}</p>
    </div>
  );
}
