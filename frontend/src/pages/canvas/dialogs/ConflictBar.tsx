import { useState } from "react";
import { plural } from "../../../lib/format";
import { differences } from "../../../model/document/diff";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { TableHead } from "../../../ui/TableHead";
import { useEditor } from "../editor";
import { keepMine, takeTheirs } from "../useServer";

const ROWS_MAX = 200;

/** A pointer may go on in the next line behind a slash. */
const breakable = (pointer: string) => pointer.replaceAll("/", "/\u200b");

/** Somebody else saved the same experiment: nothing is overwritten until one of the two is chosen. */
export function ConflictBar() {
  const conflict = useEditor((state) => state.conflict);
  const document = useEditor((state) => state.document);
  const [comparing, setComparing] = useState(false);
  if (!conflict) return null;
  const all = differences(document, conflict.document);
  const rows = all.filter(({ pointer }) => !pointer.startsWith("/ui/"));
  const choice = (
    <>
      <button className="btn" onClick={takeTheirs}>
        Take theirs
      </button>
      <button className="btn" onClick={keepMine}>
        Keep mine
      </button>
    </>
  );
  return (
    <div className="bar-note" role="alert" data-testid="conflict">
      <Icon name="warn" />
      <span>Someone else saved this experiment in the meantime. Your edits are kept here but not saved.</span>
      <span className="grow" />
      <button className="btn" onClick={() => setComparing(true)}>
        Compare versions
      </button>
      {choice}
      {comparing && (
        <Dialog
          title={`Two versions, ${plural(rows.length, "difference")}`}
          wide
          onClose={() => setComparing(false)}
          footer={
            <>
              <span className="mut small grow">Taking theirs can be undone; keeping yours makes it the latest version.</span>
              {choice}
            </>
          }
        >
          <div className="scroll">
            <table className="table diff">
              <TableHead columns={["Field", "Mine", "Theirs"]} />
              <tbody>
                {rows.slice(0, ROWS_MAX).map((row) => (
                  <tr key={row.pointer}>
                    <td className="mono">{breakable(row.pointer || "/")}</td>
                    <td className="mono">{JSON.stringify(row.mine) ?? "–"}</td>
                    <td className="mono">{JSON.stringify(row.theirs) ?? "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {rows.length > ROWS_MAX && <p className="mut">and {rows.length - ROWS_MAX} more</p>}
            {rows.length < all.length && <p className="mut small">Positions on the canvas differ, too.</p>}
          </div>
        </Dialog>
      )}
    </div>
  );
}
