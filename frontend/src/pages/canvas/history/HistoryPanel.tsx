import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { VERSIONS_PER_PAGE, versionQuery, versionsQuery } from "../../../api/queries";
import type { VersionDetail, VersionItem } from "../../../api/types";
import { initials, plural, when } from "../../../lib/format";
import { coerceDocument } from "../../../model/document/coerce";
import { isError } from "../../../model/document/validate";
import { authorThen } from "../../../session/authors";
import { WriteButton } from "../../../session/may";
import { useCreate } from "../../../session/useCreate";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { QueryPicture } from "../../../ui/QueryPicture";
import { Failure, Loading } from "../../../ui/states";
import { Differences, meant } from "../dialogs/Differences";
import { showHistory, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { restoreVersion } from "../useServer";

/** The versions of the open experiment, newest first: who saved them and when, what they changed, and back to one of them. */
export function HistoryPanel() {
  const id = useEditor((state) => state.id);
  const [limit, setLimit] = useState(VERSIONS_PER_PAGE);
  const [chosen, setChosen] = useState<number | null>(null);
  const { data, error, refetch } = useQuery(versionsQuery(id, limit));
  return (
    <aside className="insp history" aria-label="History">
      <header>
        <h2>History</h2>
        <button className="btn ghost icon" aria-label="Close the history" title="Close the history (H)" onClick={() => showHistory(false)}>
          <Icon name="cross" />
        </button>
      </header>
      <div className="scroll">
        {error && !data && <Failure error={error} retry={() => void refetch()} />}
        {!error && !data && <Loading />}
        {data && !data.items.length && <p className="none">No versions yet. The first edit of this experiment makes one.</p>}
        {data && (
          <ol data-testid="versions">
            {data.items.map((version, at) => (
              <li key={version.number}>
                <button
                  className="version"
                  aria-expanded={chosen === version.number}
                  onClick={() => setChosen(chosen === version.number ? null : version.number)}
                >
                  <span className="who" aria-hidden="true">
                    {initials(version.author) || "–"}
                  </span>
                  <span className="said">
                    <b className="ell" title={authorThen(version)}>
                      {authorThen(version)}
                    </b>
                    <small>{toldOf(version, at === 0)}</small>
                  </span>
                  <time dateTime={version.saved_at}>{when(version.saved_at)}</time>
                </button>
                {chosen === version.number && <Version id={id} number={version.number} isNewest={at === 0} />}
              </li>
            ))}
          </ol>
        )}
        {data && data.items.length < data.count && (
          <p className="none">
            {data.items.length} of {data.count} shown
            <button className="btn" onClick={() => setLimit(limit + VERSIONS_PER_PAGE)}>
              Show older ones
            </button>
          </p>
        )}
      </div>
    </aside>
  );
}

const toldOf = ({ number, saves, restored }: VersionItem, isNewest: boolean) =>
  [
    `version ${number}`,
    isNewest ? "now" : "",
    restored === null ? (saves > 1 ? plural(saves, "save") : "") : `restored from ${restored}`,
  ]
    .filter(Boolean)
    .join(", ");

/** A version, drawn in small and not to be edited. */
function Version({ id, number, isNewest }: { id: string; number: number; isNewest: boolean }) {
  const { data, error, refetch } = useQuery(versionQuery(id, number));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  return <Shown version={data} isNewest={isNewest} />;
}

function Shown({ version, isNewest }: { version: VersionDetail; isNewest: boolean }) {
  const { kinds } = useRegistry();
  const create = useCreate();
  const [comparing, setComparing] = useState(false);
  const document = useMemo(() => coerceDocument(version.document), [version]);
  const icons = useMemo(() => new Map([...kinds].map(([kind, { icon }]) => [kind, icon])), [kinds]);
  const changes = version.before ? meant(version.before, version.document).length : 0;
  const errors = version.problems.filter(isError);
  return (
    <div className="shown" data-testid="version">
      <b className="ell" title={document.name}>
        {document.name}
      </b>
      <QueryPicture document={document} icons={icons} />
      {errors.slice(0, 3).map(({ pointer, message }) => (
        <p key={pointer + message} className="remark err">
          <Icon name="crossc" small />
          <span>{message}</span>
        </p>
      ))}
      {errors.length > 3 && <p className="mut small">and {plural(errors.length - 3, "error")} more</p>}
      <p className="mut small">
        {version.before
          ? changes
            ? `${plural(changes, "difference")} from the version before`
            : "Moved on the canvas only"
          : "The oldest version that is kept"}
      </p>
      <div className="choices">
        <button
          className="btn"
          disabled={!version.before}
          title={version.before ? "" : "There is no version before this one."}
          onClick={() => setComparing(true)}
        >
          Show differences
        </button>
        <WriteButton
          className="btn"
          disabled={isNewest}
          title={isNewest ? "This is the newest version." : "Saves this version again as the newest one; nothing is removed"}
          onClick={() => void restoreVersion(version.number)}
        >
          <Icon name="restore" />
          Restore
        </WriteButton>
        <WriteButton
          className="btn"
          disabled={create.isPending}
          title={create.isPending ? "Creating an experiment" : ""}
          onClick={() => create.mutate({ ...document, name: `${document.name}, version ${version.number}` })}
        >
          Open as new experiment
        </WriteButton>
      </div>
      {comparing && (
        <Dialog title={`Version ${version.number}, ${plural(changes, "difference")}`} wide onClose={() => setComparing(false)}>
          <Differences one={version.before} other={version.document} names={["Before", `Version ${version.number}`]} />
        </Dialog>
      )}
    </div>
  );
}
