import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { upload } from "../../api/client";
import { FormDialog } from "../../ui/FormDialog";
import { toast } from "../../ui/toasts";
import { NAME } from "./names";

export type Imported = "models" | "corpora";

const TITLES: Record<Imported, string> = { models: "Import models", corpora: "Import a corpus" };

/** Takes in what was exported here or elsewhere. */
export function ImportDialog({ kind, onClose }: { kind: Imported; onClose: () => void }) {
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const ids = { file: useId(), name: useId() };
  const send = useMutation({
    mutationFn: () => {
      const form = new FormData();
      form.append("file", file as File);
      form.append("name", name);
      return upload<{ name: string }>(`/api/learning/import/${kind}`, form);
    },
    onSuccess: async (made) => {
      toast(`Imported as “${made.name}”.`);
      onClose();
      await client.invalidateQueries({ queryKey: ["learning"] });
    },
  });
  const why = !file ? "Choose a file." : name && !NAME.test(name) ? "The name has lower-case letters, digits, _ and -." : "";
  return (
    <FormDialog
      title={TITLES[kind]}
      verb="Import"
      why={why}
      busy={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate()}
      onClose={onClose}
      testId="import-go"
    >
      <p className="mut small">A ZIP that Millrace exported. It holds data alone, and is checked before anything of it counts.</p>
      <div className="field">
        <label htmlFor={ids.file}>File</label>
        <div className="in">
          <input id={ids.file} type="file" accept=".zip,application/zip" onChange={({ target }) => setFile(target.files?.[0] ?? null)} />
        </div>
      </div>
      <div className="field">
        <label htmlFor={ids.name}>Name</label>
        <div className="in">
          <input id={ids.name} value={name} maxLength={63} placeholder="as it was" onChange={({ target }) => setName(target.value)} />
        </div>
      </div>
    </FormDialog>
  );
}
