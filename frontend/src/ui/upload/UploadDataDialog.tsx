import { useState } from "react";
import type { Dataset } from "../../api/types";
import { Dialog } from "../Dialog";
import { ColumnTable } from "./ColumnTable";
import { FileDrop } from "./FileDrop";
import { ReadingSummary } from "./ReadingSummary";

/** Upload a file and look at what was read. `onUploaded` is told at once. */
export function UploadDataDialog({ onUploaded, onClose }: { onUploaded?: (dataset: Dataset) => void; onClose: () => void }) {
  const [dataset, setDataset] = useState<Dataset | null>(null);
  const take = (uploaded: Dataset) => {
    setDataset(uploaded);
    onUploaded?.(uploaded);
  };
  return (
    <Dialog
      title="Upload a data set"
      wide
      onClose={onClose}
      footer={
        <button className={`btn ${dataset ? "primary" : ""}`} onClick={onClose}>
          {dataset ? "Done" : "Close"}
        </button>
      }
    >
      {dataset ? (
        <>
          <ColumnTable dataset={dataset} />
          <ReadingSummary dataset={dataset} />
        </>
      ) : (
        <FileDrop onUploaded={take} />
      )}
    </Dialog>
  );
}
