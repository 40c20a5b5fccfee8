/** What can be done with the experiment as a whole: the entries of the canvas's menu. */
import { ApiError, post, postForFile } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import type { Kind, PythonCode } from "../../api/types";
import { copyText } from "../../lib/clipboard";
import { download, fileName, savePicture, type PictureFormat } from "../../lib/save";
import type { FileFormat } from "../../model/document/files";
import { svgOf, type Drawn } from "../../model/graph/picture";
import type { Command } from "../../session/commands";
import type { IconName } from "../../ui/icons";
import { themeColour } from "../../ui/themeColour";
import { toast } from "../../ui/toasts";
import { addItem, withFiles } from "./commands";
import { goTo, useEditor } from "./editor";

export type ExperimentCommand = Command & { icon: IconName };

export function experimentCommands(
  create: (document: ExperimentDocument) => void,
  registry: Pick<Drawn, "kinds" | "streamTitles">,
): ExperimentCommand[] {
  const drawing = (): Drawn => ({ ...useEditor.getState(), kinds: registry.kinds, streamTitles: registry.streamTitles });
  const document = () => useEditor.getState().document;
  const entry = (icon: IconName, does: string, run: () => void): ExperimentCommand => ({ group: "Experiment", icon, does, run });
  const writing = (...of: Parameters<typeof entry>): ExperimentCommand => ({ ...entry(...of), needs: "write" });
  return [
    writing("copy", "Duplicate experiment", () => create({ ...document(), name: `${document().name}, copy` })),
    writing("import", "Import", () => useEditor.setState({ dialog: { kind: "import", text: "" } })),
    writing("upload", "Upload a data set", () => useEditor.setState({ dialog: { kind: "upload" } })),
    entry("copy", "Copy as Python", () => void copyPython(document())),
    entry("copy", "Copy as YAML", () => withFiles(({ writeDocument }) => void copyAs("YAML", writeDocument(document(), "yaml"), document().name, "yaml"))),
    entry("export", "Export as YAML", () => exportText(document(), "yaml")),
    entry("export", "Export as JSON", () => exportText(document(), "json")),
    entry("export", "Export for Spark", () => void exportForSpark(document())),
    entry("export", "Export the picture as SVG", () => void exportPicture(drawing(), "svg")),
    entry("export", "Export the picture as PNG", () => void exportPicture(drawing(), "png")),
    entry("export", "Export the picture as PDF", () => void exportPicture(drawing(), "pdf")),
  ];
}

/** One command for each kind of operator, so that it can be added by its name. */
export const addCommands = (kinds: Map<string, Kind>): Command[] =>
  [...kinds.values()]
    .filter((kind) => kind.inputs.length)
    .map((kind) => ({
      group: "Add",
      needs: "write" as const,
      does: kind.title,
      run: () => addItem({ part: "operator", kind: kind.kind }, kinds),
      onlyWhenSearched: true,
    }));

async function copyPython(document: ExperimentDocument): Promise<void> {
  try {
    const { code } = await post<PythonCode>("/api/python", { document });
    await copyAs("Python", code, document.name, "py");
  } catch (error) {
    toast(`The experiment could not be written as Python. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
  }
}

async function copyAs(what: string, text: string, name: string, ending: string): Promise<void> {
  const file = fileName(name, ending);
  const isCopied = await copyText(text, file);
  toast(isCopied ? `Copied as ${what}.` : `The browser does not allow copying here; saved as ${file} instead.`, { seconds: isCopied ? 2 : 8 });
}

function exportText(document: ExperimentDocument, format: FileFormat): void {
  withFiles(({ writeDocument }) =>
    download(new Blob([writeDocument(document, format)], { type: `application/${format}` }), fileName(document.name, format)),
  );
}

/** The query as a program of PySpark with its input. What has no equivalent in Spark is shown at its place. */
async function exportForSpark(document: ExperimentDocument): Promise<void> {
  toast("Writing the program and its input ...", { seconds: 2 });
  try {
    download(await postForFile("/api/pyspark", { document }), fileName(document.name, "zip"));
  } catch (error) {
    const place = error instanceof ApiError ? error.problems[0]?.pointer : undefined;
    toast(`The query could not be written for Spark: ${error instanceof Error ? error.message : String(error)}`, { tone: "err", seconds: 12 });
    if (place) goTo(place);
  }
}

async function exportPicture(drawn: Drawn, format: PictureFormat): Promise<void> {
  try {
    await savePicture(svgOf(drawn, themeColour()), format, drawn.document.name, "experiment");
  } catch (error) {
    toast(`The picture could not be created. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
  }
}
