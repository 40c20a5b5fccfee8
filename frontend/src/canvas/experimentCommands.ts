/** What can be done with the experiment as a whole: the entries of the canvas's menu. */
import type { Command } from "../app/commands";
import { fileName, writeDocument, type FileFormat } from "../model/files";
import type { ExperimentDocument } from "../model/document";
import type { IconName } from "../ui/icons";
import { useEditor } from "./editor";

export type ExperimentCommand = Command & { icon: IconName };

export function experimentCommands(ask: (dialog: "import" | "upload") => void, create: (document: ExperimentDocument) => void): ExperimentCommand[] {
  const document = () => useEditor.getState().document;
  const entry = (icon: IconName, does: string, run: () => void): ExperimentCommand => ({ group: "Experiment", icon, does, run });
  return [
    entry("copy", "Duplicate experiment", () => create({ ...document(), name: `${document().name}, copy` })),
    entry("import", "Import", () => ask("import")),
    entry("upload", "Upload a data set", () => ask("upload")),
    entry("export", "Export as YAML", () => exportText(document(), "yaml")),
    entry("export", "Export as JSON", () => exportText(document(), "json")),
  ];
}

function exportText(document: ExperimentDocument, format: FileFormat): void {
  download(new Blob([writeDocument(document, format)], { type: `application/${format}` }), fileName(document, format));
}

export function download(content: Blob, name: string): void {
  const link = window.document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
