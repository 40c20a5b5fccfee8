import { useState } from "react";
import type { ExperimentDocument } from "../../../api/document";
import { readDocument } from "../../../model/document/files";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { edit } from "../editor";

/** A document from a file or from the clipboard replaces the open one, as one undo step; or becomes an experiment of its own. */
export function ImportDialog({ onClose, onCreate }: { onClose: () => void; onCreate: (document: ExperimentDocument) => void }) {
  const [text, setText] = useState("");
  let document: ExperimentDocument | null = null;
  let error = "";
  try {
    document = text.trim() ? readDocument(text) : null;
  } catch (problem) {
    error = problem instanceof Error ? problem.message : String(problem);
  }
  const blocked = document ? "" : error || "Choose a file or paste a document first.";
  return (
    <Dialog
      title="Import an experiment"
      wide
      onClose={onClose}
      footer={
        <>
          <span className="mut small grow">
            {document ? `${document.name}: ${document.query.operators.length} operators, ${document.query.edges.length} edges` : ""}
          </span>
          <button
            className="btn"
            disabled={Boolean(blocked)}
            title={blocked || "Replaces the open document; can be undone"}
            onClick={() => {
              if (document) {
                const next = document;
                edit(() => next);
                onClose();
              }
            }}
          >
            Replace this one
          </button>
          <button className="btn primary" disabled={Boolean(blocked)} title={blocked} onClick={() => document && onCreate(document)}>
            As a new experiment
          </button>
        </>
      }
    >
      <div className="field">
        <label htmlFor="import-text">
          Document<i>YAML or JSON</i>
        </label>
        <div className="in">
          <textarea
            id="import-text"
            rows={14}
            value={text}
            spellCheck={false}
            placeholder={"format: 1\nname: ...\nquery: ..."}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        {error && (
          <p className="remark err" role="alert">
            <Icon name="crossc" small />
            <span>{error}</span>
          </p>
        )}
      </div>
      <label className="btn choose">
        <Icon name="upload" />
        Choose a file
        <input
          type="file"
          className="vh"
          accept=".yaml,.yml,.json"
          onChange={async (event) => setText((await event.target.files?.[0]?.text()) ?? "")}
        />
      </label>
    </Dialog>
  );
}
