import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExperimentDocument } from "../../../api/document";
import { plural } from "../../../lib/format";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { takeDocument, takeOperators } from "../commands";
import { documentIn } from "../reading";

/** A document from a file or from the clipboard replaces the open one, as one undo step; or becomes an experiment of its own. */
export function ImportDialog({
  given,
  onClose,
  onCreate,
}: {
  /** The text that is there at first. */
  given: string;
  onClose: () => void;
  onCreate: (document: ExperimentDocument) => void;
}) {
  const [text, setText] = useState(given);
  const isEmpty = !text.trim();
  const read = useQuery({
    queryKey: ["document in", text],
    queryFn: ({ signal }) => documentIn(text, signal),
    enabled: !isEmpty,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  const document = isEmpty ? undefined : read.data;
  const error = isEmpty ? "" : (read.error?.message ?? "");
  const blocked = document ? "" : error || (isEmpty ? "Choose a file or paste a document first." : "The document is being read.");
  const operators = document?.query.operators.length ?? 0;
  const noOperators = blocked || (operators ? "" : "The document has no operators.");
  const take = (what: (document: ExperimentDocument) => void) => () => {
    if (!document) return;
    what(document);
    onClose();
  };
  return (
    <Dialog
      title="Import an experiment"
      wide
      onClose={onClose}
      footer={
        <>
          <span className="mut small grow" role="status">
            {document ? `${document.name}: ${plural(operators, "operator")}, ${plural(document.query.edges.length, "edge")}` : ""}
          </span>
          <button
            className="btn"
            disabled={Boolean(noOperators)}
            title={noOperators || "Beside those of the open document, under free names; can be undone"}
            onClick={take(takeOperators)}
          >
            Add its operators
          </button>
          <button
            className="btn"
            disabled={Boolean(blocked)}
            title={blocked || "Replaces the open document; can be undone"}
            onClick={take(takeDocument)}
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
          Document<i>YAML, JSON, or Python as Millrace writes it</i>
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
          accept=".yaml,.yml,.json,.py"
          onChange={async (event) => setText((await event.target.files?.[0]?.text()) ?? "")}
        />
      </label>
    </Dialog>
  );
}
