import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { experimentQuery, registryQuery } from "../api/queries";
import { KeyHelp } from "../app/KeyHelp";
import { TopBar } from "../app/TopBar";
import { rememberExperiment } from "../experiments/last";
import { Icon } from "../ui/Icon";
import { Failure, Loading } from "../ui/states";
import { ConflictBar } from "./dialogs/ConflictBar";
import { ImportDialog } from "./dialogs/ImportDialog";
import { UploadDialog } from "./dialogs/UploadDialog";
import { Drawer } from "./Drawer";
import { openExperiment, useEditor } from "./editor";
import { Inspector } from "./inspector/Inspector";
import { COMMANDS, onCanvasKey } from "./keys";
import { Palette } from "./Palette";
import { Stage } from "./Stage";
import { saveNow, useAutosave, useValidation } from "./useServer";
import "./canvas.css";
import { CanvasBar } from "./CanvasBar";
import { useCreate } from "./useCreate";

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
      <div className="page">
        <TopBar title="Experiment" crumb={<b>Experiment</b>} />
        <Failure error={registry.error} retry={() => void registry.refetch()} />
      </div>
    );
  if (error)
    return (
      <div className="page">
        <TopBar title="Experiment" crumb={<b>Experiment</b>} />
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  if (!open)
    return (
      <div className="page">
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
  const drawerOpen = useEditor((state) => state.drawerOpen);
  const [dialog, setDialog] = useState<"upload" | "import" | "keys" | null>(null);
  const create = useCreate();
  const navigate = useNavigate();
  useValidation();
  useAutosave();
  useEffect(() => {
    const listen = (event: KeyboardEvent) =>
      event.key === "?" && !(event.target as HTMLElement).matches("input, textarea, select") ? setDialog("keys") : onCanvasKey(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return (
    <div className="page">
      <CanvasBar onImport={() => setDialog("import")} onKeys={() => setDialog("keys")} create={create} />
      <div className={`canvas ${paletteOpen ? "" : "no-pal"} ${inspectorOpen ? "" : "no-insp"} ${drawerOpen ? "" : "no-drawer"}`}>
        {paletteOpen && (
          <Palette
            onUpload={() => setDialog("upload")}
            onImport={() => setDialog("import")}
            onTemplates={() => void navigate("/experiments")}
          />
        )}
        <div className="stage-column">
          <ConflictBar />
          <SaveBar />
          <Stage />
        </div>
        {inspectorOpen && <Inspector />}
        <Drawer />
      </div>
      {dialog === "upload" && <UploadDialog onClose={() => setDialog(null)} />}
      {dialog === "import" && (
        <ImportDialog
          onClose={() => setDialog(null)}
          onCreate={(document) => {
            setDialog(null);
            create.mutate(document);
          }}
        />
      )}
      {dialog === "keys" && <KeyHelp commands={COMMANDS} onClose={() => setDialog(null)} />}
    </div>
  );
}

function SaveBar() {
  const save = useEditor((state) => state.save);
  const why = useEditor((state) => state.saveError);
  if (save !== "failed") return null;
  return (
    <div className="bar-note err" role="alert">
      <Icon name="warn" />
      <span>Not saved: {why} Trying again every 5 seconds; your edits are kept in this page.</span>
      <span className="grow" />
      <button className="btn" onClick={() => void saveNow()}>
        Try now
      </button>
    </div>
  );
}
