import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useStore } from "zustand";
import { ApiError, post } from "../api/client";
import { experimentQuery, registryQuery } from "../api/queries";
import type { ExperimentRecord, Problem, Run } from "../api/types";
import { KeyHelp } from "../app/KeyHelp";
import { TopBar } from "../app/TopBar";
import { rememberExperiment } from "../experiments/last";
import type { ExperimentDocument } from "../model/document";
import { fileName, writeDocument, type FileFormat } from "../model/files";
import { isError } from "../model/validate";
import { clock } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { Failure, Loading } from "../ui/states";
import { toast } from "../ui/toasts";
import { ConflictBar } from "./dialogs/ConflictBar";
import { ImportDialog } from "./dialogs/ImportDialog";
import { UploadDialog } from "./dialogs/UploadDialog";
import { Drawer } from "./Drawer";
import { edit, goTo, openExperiment, redo, undo, useEditor } from "./editor";
import { Inspector } from "./inspector/Inspector";
import { COMMANDS, onCanvasKey } from "./keys";
import { Palette } from "./Palette";
import { Stage } from "./Stage";
import { saveNow, useAutosave, useValidation } from "./useServer";
import "./canvas.css";

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
    return () => useEditor.setState({ id: "" });
  }, [data, id]);
  if (registry.error) return <div className="page"><TopBar crumb={<b>Experiment</b>} /><Failure error={registry.error} retry={() => void registry.refetch()} /></div>;
  if (error) return <div className="page"><TopBar crumb={<b>Experiment</b>} /><Failure error={error} retry={() => void refetch()} /></div>;
  if (!open) return <div className="page"><TopBar crumb={<b>Experiment</b>} /><Loading /></div>;
  return <ReactFlowProvider><Canvas key={id} /></ReactFlowProvider>;
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
    const listen = (event: KeyboardEvent) => (event.key === "?" && !(event.target as HTMLElement).matches("input, textarea, select") ? setDialog("keys") : onCanvasKey(event));
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return (
    <div className="page">
      <CanvasBar onImport={() => setDialog("import")} onKeys={() => setDialog("keys")} create={create} />
      <div className={`canvas ${paletteOpen ? "" : "no-pal"} ${inspectorOpen ? "" : "no-insp"} ${drawerOpen ? "" : "no-drawer"}`}>
        {paletteOpen && <Palette onUpload={() => setDialog("upload")} onImport={() => setDialog("import")} onTemplates={() => void navigate("/experiments")} />}
        <div className="stage-column"><ConflictBar /><SaveBar /><Stage /></div>
        {inspectorOpen && <Inspector />}
        <Drawer />
      </div>
      {dialog === "upload" && <UploadDialog onClose={() => setDialog(null)} />}
      {dialog === "import" && <ImportDialog onClose={() => setDialog(null)} onCreate={(document) => { setDialog(null); create.mutate(document); }} />}
      {dialog === "keys" && <KeyHelp commands={COMMANDS} onClose={() => setDialog(null)} />}
    </div>
  );
}

function useCreate() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (document: ExperimentDocument) => post<ExperimentRecord>("/api/experiments", { document }),
    onSuccess: (record) => { void client.invalidateQueries({ queryKey: ["experiments"] }); void navigate(`/experiments/${record.id}`); },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
}

function SaveBar() {
  const save = useEditor((state) => state.save);
  const why = useEditor((state) => state.saveError);
  if (save !== "failed") return null;
  return <div className="bar-note err" role="alert"><Icon name="warn" /><span>Not saved: {why} Trying again every 5 seconds; your edits are kept in this page.</span><span className="grow" /><button className="btn" onClick={() => void saveNow()}>Try now</button></div>;
}

function CanvasBar({ onImport, onKeys, create }: { onImport: () => void; onKeys: () => void; create: ReturnType<typeof useCreate> }) {
  const name = useEditor((state) => state.document.name);
  const past = useStore(useEditor.temporal, (state) => state.pastStates.length);
  const future = useStore(useEditor.temporal, (state) => state.futureStates.length);
  const problems = useEditor((state) => state.problems);
  const errors = problems.filter(isError);
  const exportAs = (format: FileFormat) => {
    const { document: experiment } = useEditor.getState();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([writeDocument(experiment, format)], { type: format === "json" ? "application/json" : "application/yaml" }));
    link.download = fileName(experiment, format);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return (
    <TopBar
      crumb={<>
        <input className="name" aria-label="Name of the experiment" value={name} placeholder="Name" maxLength={200} onChange={(event) => edit((before) => ({ ...before, name: event.target.value }), "/name")} />
        <Saved />
        <span className="sep" />
        <button className="btn ghost icon" title={past ? `Undo (Ctrl+Z), ${past} steps` : "Nothing to undo"} aria-label="Undo" disabled={!past} onClick={undo}><Icon name="undo" /></button>
        <button className="btn ghost icon" title={future ? `Redo (Ctrl+Shift+Z), ${future} steps` : "Nothing to redo"} aria-label="Redo" disabled={!future} onClick={redo}><Icon name="redo" /></button>
      </>}
      actions={<>
        <button className="btn" title={problems.length ? "Show the problems" : "Checked by the server after every edit"} data-testid="problems-button"
          onClick={() => useEditor.setState({ drawer: "problems", drawerOpen: true })}>
          <Icon name={errors.length ? "crossc" : problems.length ? "warn" : "checkc"} />{problems.length ? <>Problems <span className={`cnt ${errors.length ? "err" : ""}`}>{problems.length}</span></> : "Valid"}
        </button>
        <Menu title="More" label={<Icon name="dots" />}>
          {(close) => (
            <>
              <button onClick={() => { close(); create.mutate({ ...useEditor.getState().document, name: `${name}, copy` }); }}><Icon name="copy" />Duplicate experiment</button>
              <button onClick={() => { close(); onImport(); }}><Icon name="import" />Import</button>
              <button onClick={() => { close(); exportAs("yaml"); }}><Icon name="export" />Export as YAML</button>
              <button onClick={() => { close(); exportAs("json"); }}><Icon name="export" />Export as JSON</button>
              <hr />
              <button onClick={() => { close(); onKeys(); }}><Icon name="keyboard" />Keys<kbd>?</kbd></button>
            </>
          )}
        </Menu>
        <RunButton errors={errors} />
      </>}
    />
  );
}

function Saved() {
  const save = useEditor((state) => state.save);
  const at = useEditor((state) => state.savedAt);
  const words = save === "saved" ? (at ? `Saved ${clock(at)}` : "Saved") : save === "conflict" ? "Conflict" : save === "failed" ? "Not saved" : "Saving";
  return <span className={`saved ${save}`} data-testid="saved" data-state={save}>{save === "saved" ? <Icon name="check" small /> : save === "failed" || save === "conflict" ? <Icon name="warn" small /> : null}{words}</span>;
}

/** Runs the saved document. With errors it names the first one and goes to it. */
function RunButton({ errors }: { errors: Problem[] }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [seed, setSeed] = useState("");
  const operators = useEditor((state) => state.document.query.operators.length);
  const run = useMutation({
    mutationFn: async (chosen: string) => {
      await saveNow();
      const { id, version, save } = useEditor.getState();
      if (save !== "saved") throw new Error(save === "conflict" ? "Somebody else saved this experiment. Choose a version first." : "The experiment could not be saved, so it was not run.");
      return post<Run>(`/api/experiments/${id}/runs`, { version, ...(chosen === "" ? {} : { seed: Number(chosen) }) });
    },
    onSuccess: (made) => { if (made.note) toast(made.note, { tone: "warn", seconds: 12 }); void client.invalidateQueries({ queryKey: ["runs"] }); void navigate(`/runs/${made.id}`); },
    onError: (error) => {
      if (error instanceof ApiError && error.problems.length) {
        useEditor.setState({ problems: error.problems, drawer: "problems", drawerOpen: true });
        goTo(error.problems[0]?.pointer ?? "");
      }
      toast(error.message, { tone: "err" });
    },
  });
  const first = errors[0];
  const why = !operators ? "The query is empty: add a source, an operator and a sink." : first ? `Cannot run yet: ${first.message}` : run.isPending ? "Starting" : "";
  const start = (chosen: string) => {
    if (first) {
      useEditor.setState({ drawer: "problems", drawerOpen: true });
      return goTo(first.pointer);
    }
    if (!why) run.mutate(chosen);
  };
  return (
    <span className="split">
      <button className="btn primary" data-command="run" data-testid="run" aria-disabled={Boolean(why)} title={why ? `${why}${first ? " Click to go there." : ""}` : "Run (Ctrl+Enter)"} onClick={() => start("")}><Icon name="play" />Run</button>
      <Menu title="Run with another seed" className="btn primary" label={<Icon name="down" small />}>
        {(close) => (
          <form className="seed" onSubmit={(event) => { event.preventDefault(); close(); start(seed); }}>
            <div className="field"><label htmlFor="seed">Seed<i>of this run only</i></label>
              <div className="in"><input id="seed" type="number" min={0} step={1} value={seed} placeholder="the document's" autoFocus onChange={(event) => setSeed(event.target.value)} /></div></div>
            <span className="two"><button type="button" className="btn" onClick={() => setSeed(String(Math.floor(Math.random() * 1_000_000)))}>Draw one</button><button className="btn primary" disabled={Boolean(why)} title={why}>Run</button></span>
          </form>
        )}
      </Menu>
    </span>
  );
}
