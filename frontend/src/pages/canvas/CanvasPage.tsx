import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { lazy, Suspense, useEffect, useMemo } from "react";
import { useNavigate, useParams } from "react-router";
import { experimentQuery, registryQuery } from "../../api/queries";
import { useCommands } from "../../session/commands";
import { rememberExperiment } from "../../session/lastExperiment";
import { Icon } from "../../ui/Icon";
import { Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { useSuggestCommand } from "./advice/SuggestButton";
import { paste } from "./commands";
import { ConflictBar } from "./dialogs/ConflictBar";
import { Drawer } from "./Drawer";
import { openExperiment, useEditor, type CanvasDialog } from "./editor";
import { addCommands, experimentCommands } from "./experimentCommands";
import { COMMANDS } from "./keys";
import { Palette } from "./Palette";
import { useSidePanels } from "./sidePanels";
import { Stage } from "./stage/Stage";
import { saveNow, useAutosave, useOthers, useValidation } from "./useServer";
import "./canvas.css";
import { useCreate } from "../../session/useCreate";
import { CanvasBar } from "./CanvasBar";
import { useRegistry } from "./useRegistry";

const openDialog = (dialog: CanvasDialog | null) => useEditor.setState({ dialog });

/** When what is drawn now can be seen. */
const painted = () => new Promise<void>((go) => requestAnimationFrame(() => setTimeout(go)));

// The forms are as large as the rest of the page, and the query can be seen and moved before they are there.
const Inspector = lazy(async () => {
  await painted();
  return { default: (await import("./inspector/Inspector")).Inspector };
});
const HistoryPanel = lazy(() => import("./history/HistoryPanel").then((file) => ({ default: file.HistoryPanel })));
const AdvicePanel = lazy(() => import("./advice/AdvicePanel").then((file) => ({ default: file.AdvicePanel })));
const ImportDialog = lazy(() => import("./dialogs/ImportDialog").then((file) => ({ default: file.ImportDialog })));
const UploadDialog = lazy(() => import("./dialogs/UploadDialog").then((file) => ({ default: file.UploadDialog })));

export function CanvasPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(experimentQuery(id));
  // Ports and forms come from the registry, so nothing is drawn before it is there.
  const registry = useQuery(registryQuery);
  const open = useEditor((state) => state.id === id && id !== "") && registry.isSuccess;
  useEffect(() => {
    if (data && data.id === id) {
      openExperiment(data);
      rememberExperiment(id);
    }
    return () => {
      void saveNow(); // what was typed in the last second goes with whoever leaves the page
      useEditor.setState({ id: "" });
    };
  }, [data, id]);
  if (registry.error)
    return (
      <div className="page on-canvas">
        <TopBar title="Experiment" crumb={<b>Experiment</b>} />
        <Failure error={registry.error} retry={() => void registry.refetch()} />
      </div>
    );
  if (error)
    return (
      <div className="page on-canvas">
        <TopBar title="Experiment" crumb={<b>Experiment</b>} />
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  if (!open)
    return (
      <div className="page on-canvas">
        <TopBar title="Experiment" crumb={<b>Experiment</b>} />
        <Loading />
      </div>
    );
  return (
    <ReactFlowProvider>
      <Canvas key={id} />
    </ReactFlowProvider>
  );
}

function Canvas() {
  const paletteOpen = useEditor((state) => state.paletteOpen);
  const inspectorOpen = useEditor((state) => state.inspectorOpen);
  const side = useEditor((state) => state.side);
  const drawerOpen = useEditor((state) => state.drawerOpen);
  const dialog = useEditor((state) => state.dialog);
  const create = useCreate();
  const navigate = useNavigate();
  useValidation();
  useAutosave();
  useOthers();
  useSidePanels();
  const { mutate } = create;
  const { kinds, streamTitles } = useRegistry();
  const experiment = useMemo(() => experimentCommands(mutate, { kinds, streamTitles }), [mutate, kinds, streamTitles]);
  useCommands("canvas", COMMANDS);
  useCommands("experiment", experiment);
  const add = useMemo(() => addCommands(kinds), [kinds]);
  useCommands("add", add);
  useSuggestCommand();
  usePaste();
  const folded = `${paletteOpen ? "" : "no-pal"} ${inspectorOpen ? "" : "no-insp"} ${drawerOpen ? "" : "no-drawer"}`;
  return (
    <div className="page on-canvas">
      <CanvasBar commands={experiment} />
      <div className={`canvas ${folded} ${inspectorOpen && side === "advice" ? "advising" : ""}`}>
        {paletteOpen && (
          <Palette
            onUpload={() => openDialog({ kind: "upload" })}
            onImport={() => openDialog({ kind: "import", text: "" })}
            onTemplates={() => void navigate("/templates")}
          />
        )}
        <div className="stage-column">
          <ConflictBar />
          <SaveBar />
          <Stage />
        </div>
        {inspectorOpen && (
          <Suspense fallback={<InspectorToBe />}>
            {side === "history" ? <HistoryPanel /> : side === "advice" ? <AdvicePanel /> : <Inspector />}
          </Suspense>
        )}
        <Drawer />
      </div>
      <Suspense fallback={null}>
        {dialog?.kind === "upload" && <UploadDialog onClose={() => openDialog(null)} />}
        {dialog?.kind === "import" && (
          <ImportDialog
            given={dialog.text}
            onClose={() => openDialog(null)}
            onCreate={(document) => {
              openDialog(null);
              create.mutate(document);
            }}
          />
        )}
      </Suspense>
    </div>
  );
}

/** Its place, so that nothing moves when it comes. */
function InspectorToBe() {
  return (
    <aside className="insp" aria-label="Inspector">
      <div className="tabs" />
      <Loading />
    </aside>
  );
}

/** Ctrl+V outside of a field: the browser hands over the clipboard without asking. */
function usePaste(): void {
  useEffect(() => {
    const listen = (event: ClipboardEvent) => {
      if ((event.target as HTMLElement).closest?.("input, textarea, [contenteditable], dialog")) return;
      event.preventDefault();
      void paste(event.clipboardData?.getData("text/plain"));
    };
    window.addEventListener("paste", listen);
    return () => window.removeEventListener("paste", listen);
  }, []);
}

function SaveBar() {
  const save = useEditor((state) => state.save);
  const why = useEditor((state) => state.saveError);
  if (save !== "failed") return null;
  return (
    <div className="bar-note err" role="alert">
      <Icon name="warn" />
      <span>Not saved: {why} Retrying every 5 seconds; this page keeps your edits.</span>
      <span className="grow" />
      <button className="btn" onClick={() => void saveNow()}>
        Try now
      </button>
    </div>
  );
}
