import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { put } from "../../api/client";
import { bytes } from "../../lib/format";
import { FormDialog } from "../../ui/FormDialog";
import { toast } from "../../ui/toasts";
import { storageQuery, type Storage } from "./queries";

const GB = 1e9;

/** How much the lab may keep. An empty field means no limit. */
export function StorageDialog({ storage, onClose }: { storage: Storage; onClose: () => void }) {
  const client = useQueryClient();
  const [limit, setLimit] = useState(storage.limit_bytes === null ? "" : String(storage.limit_bytes / GB));
  const limit_bytes = limit.trim() ? Math.round(Number(limit) * GB) : null;
  const change = useMutation({
    mutationFn: () => put<Storage>("/api/storage", { limit_bytes }),
    onSuccess: (now) => {
      client.setQueryData(storageQuery.queryKey, now);
      toast("Limit saved.");
      onClose();
    },
  });
  const why =
    limit_bytes !== null && !(limit_bytes >= 0 && limit_bytes <= 1e18)
      ? "The limit must be a number of GB, or empty for no limit."
      : "";
  const below = limit_bytes !== null && limit_bytes <= storage.used_bytes;
  return (
    <FormDialog title="Storage limit" verb="Set" why={why} busy={change.isPending} error={change.error} onSubmit={change.mutate} onClose={onClose}>
      <div className="field">
        <label htmlFor="limit">
          Limit<i>for runs and data sets together; empty: no limit</i>
        </label>
        <div className="in">
          <input id="limit" data-autofocus inputMode="decimal" value={limit} placeholder="none" onChange={(event) => setLimit(event.target.value)} />
          <span className="unit">GB</span>
        </div>
      </div>
      <p className="mut small">
        {below && !why
          ? `The lab uses ${bytes(storage.used_bytes)} already: nothing new can start until something is deleted.`
          : "At the limit no run, study or upload starts. Work in progress continues."}
      </p>
    </FormDialog>
  );
}
