import { useEffect, useState } from "react";
import { ago, plural } from "../../../lib/format";
import { authorNow } from "../../../session/authors";
import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { useEditor } from "../editor";
import { keepMine, readTheirs, takeTheirs } from "../useServer";
import { Differences, meant } from "./Differences";

const TOLD_EVERY_MS = 30_000;

/** The same experiment was saved elsewhere: nothing is overwritten until one of the two is chosen. */
export function ConflictBar() {
  const conflict = useEditor((state) => state.conflict);
  const document = useEditor((state) => state.document);
  const isClean = useEditor((state) => state.save === "saved");
  const [comparing, setComparing] = useState(false);
  useNow(conflict !== null);
  if (!conflict) return null;
  const choice = (
    <>
      <button className="btn" onClick={takeTheirs}>
        {isClean ? "Show it" : "Take theirs"}
      </button>
      {!isClean && (
        <button className="btn" onClick={keepMine}>
          Keep mine
        </button>
      )}
    </>
  );
  const who = authorNow(conflict.saved);
  return (
    <div className="bar-note" role="alert" data-testid="conflict">
      <Icon name="warn" />
      <span>
        {who}
        {who.includes(",") ? "," : ""} saved this experiment {ago(conflict.saved.saved_at)}.{" "}
        {isClean ? "This page shows an older version." : "Your edits are kept here but not saved."}
      </span>
      <span className="grow" />
      <button
        className="btn"
        onClick={() => {
          setComparing(true);
          void readTheirs(); // it may have been saved again meanwhile
        }}
      >
        Compare versions
      </button>
      {choice}
      {comparing && (
        <Dialog
          title={`Two versions, ${plural(meant(document, conflict.document).length, "difference")}`}
          wide
          onClose={() => setComparing(false)}
          footer={
            <>
              <span className="mut small grow">
                {isClean
                  ? "Showing the newer one can be undone."
                  : "Taking theirs can be undone. Keeping yours makes it the latest version; theirs stays in the history."}
              </span>
              {choice}
            </>
          }
        >
          <Differences one={document} other={conflict.document} names={["Here", who]} />
        </Dialog>
      )}
    </div>
  );
}

/** Draws anew from time to time, for words like "2 min ago". */
function useNow(wanted: boolean): void {
  const [, setTold] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const timer = setInterval(() => setTold((count) => count + 1), TOLD_EVERY_MS);
    return () => clearInterval(timer);
  }, [wanted]);
}
