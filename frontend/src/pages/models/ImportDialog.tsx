import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { upload } from "../../api/client";
import { bytes } from "../../lib/format";
import { FormDialog } from "../../ui/FormDialog";
import { toast } from "../../ui/toasts";
import { NAME } from "./names";

export type Imported = "models" | "corpora";

const TITLES: Record<Imported, string> = { models: "Import models", corpora: "Import a corpus" };

/** Imports what was exported here or elsewhere. Closing the dialog stops the upload. */
export function ImportDialog({ kind, bytesMax, onClose }: { kind: Imported; bytesMax: number; onClose: () => void }) {
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const ids = { file: useId(), name: useId() };
  const sending = useRef<AbortController>(null);
  useEffect(() => () => sending.current?.abort(), []);
  const send = useMutation({
    mutationFn: (file: File) => {
      sending.current = new AbortController();
      const form = new FormData();
      form.append("file", file);
      form.append("name", name);
      return upload<{ name: string }>(`/api/learning/import/${kind}`, form, sending.current.signal);
    },
    onSuccess: async (made) => {
      toast(`Imported as “${made.name}”.`);
      await client.invalidateQueries({ queryKey: ["learning"] });
    },
  });
  // Given to mutate, it is not called once this dialog is gone: another one may be open by then.
  const submit = () => file && send.mutate(file, { onSuccess: onClose });
  const why = send.isPending
    ? "Uploading …"
    : !file
      ? "Choose a file."
      : file.size > bytesMax
        ? `The file has ${bytes(file.size)}; an upload has at most ${bytes(bytesMax)}.`
        : name && !NAME.test(name)
          ? "The name has lower-case letters, digits, _ and -."
          : "";
  return (
    <FormDialog
      title={TITLES[kind]}
      verb="Import"
      why={why}
      busy={send.isPending}
      error={send.error}
      onSubmit={submit}
      onClose={onClose}
      testId="import-go"
    >
      <p className="mut small">
        A ZIP that Millrace exported, of at most {bytes(bytesMax)}. It contains only data and is checked before import.
      </p>
      <div className="field">
        <label htmlFor={ids.file}>File</label>
        <div className="in">
          <input id={ids.file} type="file" accept=".zip,application/zip" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
        </div>
      </div>
      <div className="field">
        <label htmlFor={ids.name}>Name</label>
        <div className="in">
          <input id={ids.name} value={name} maxLength={63} placeholder="name in the archive" onChange={({ target }) => setName(target.value)} />
        </div>
      </div>
    </FormDialog>
  );
}
