/** What can be done with the experiment as a whole: the entries of the canvas's menu. */
import type { Kind } from "../api/types";
import type { Command } from "../app/commands";
import type { FileFormat } from "../model/files";
import type { ExperimentDocument } from "../model/document";
import type { IconName } from "../ui/icons";
import { toast } from "../ui/toasts";
import { addItem, withFiles } from "./commands";
import { useEditor } from "./editor";
import { pngOf, svgOf, themeColour, type Drawn } from "./picture";

const FILE_NAME_LENGTH_MAX = 80;

export type ExperimentCommand = Command & { icon: IconName };

export function experimentCommands(
  ask: (dialog: "import" | "upload") => void,
  create: (document: ExperimentDocument) => void,
  registry: Pick<Drawn, "kinds" | "streamTitles">,
): ExperimentCommand[] {
  const drawing = (): Drawn => ({ ...useEditor.getState(), kinds: registry.kinds, streamTitles: registry.streamTitles });
  const document = () => useEditor.getState().document;
  const entry = (icon: IconName, does: string, run: () => void): ExperimentCommand => ({ group: "Experiment", icon, does, run });
  return [
    entry("copy", "Duplicate experiment", () => create({ ...document(), name: `${document().name}, copy` })),
    entry("import", "Import", () => ask("import")),
    entry("upload", "Upload a data set", () => ask("upload")),
    entry("export", "Export as YAML", () => exportText(document(), "yaml")),
    entry("export", "Export as JSON", () => exportText(document(), "json")),
    entry("export", "Export the picture as SVG", () => void exportPicture(drawing(), "svg")),
    entry("export", "Export the picture as PNG", () => void exportPicture(drawing(), "png")),
  ];
}

/** One command for each kind of operator, so that it can be added by its name. */
export const addCommands = (kinds: Map<string, Kind>): Command[] =>
  [...kinds.values()]
    .filter((kind) => kind.inputs.length)
    .map((kind) => ({
      group: "Add",
      does: kind.title,
      run: () => addItem({ part: "operator", kind: kind.kind }, kinds),
      onlyWhenSearched: true,
    }));

function exportText(document: ExperimentDocument, format: FileFormat): void {
  withFiles(({ writeDocument }) =>
    download(new Blob([writeDocument(document, format)], { type: `application/${format}` }), fileName(document, format)),
  );
}

async function exportPicture(drawn: Drawn, format: "svg" | "png"): Promise<void> {
  const picture = svgOf(drawn, themeColour());
  try {
    const content = format === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await pngOf(picture);
    download(content, fileName(drawn.document, format));
  } catch (error) {
    toast(`The picture could not be made. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
  }
}

function download(content: Blob, name: string): void {
  const link = window.document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = (document: ExperimentDocument, format: string) =>
  `${
    document.name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, FILE_NAME_LENGTH_MAX)
      .replace(/^-|-$/g, "") || "experiment"
  }.${format}`;
