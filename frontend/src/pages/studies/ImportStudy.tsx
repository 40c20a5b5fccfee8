import { useRef } from "react";
import type { StudyDocument } from "../../model/study/study";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

/** Reads a study from a YAML or JSON file. */
export function ImportStudy({ onImport }: { onImport: (study: StudyDocument) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File) => {
    try {
      const { readStudy } = await import("../../model/study/files");
      onImport(readStudy(await file.text()));
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { tone: "err" });
    }
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".yaml,.yml,.json"
        data-testid="import-study"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = "";
          if (file) void read(file);
        }}
      />
      <button className="btn" title="A study as YAML or JSON" onClick={() => input.current?.click()}>
        <Icon name="import" />
        Import
      </button>
    </>
  );
}
