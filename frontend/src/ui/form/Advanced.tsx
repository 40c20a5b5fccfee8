import { useState, type ReactNode } from "react";

/** The fields of a form that few people change, folded. `open`: one of them has a problem; they stay open when it is solved. */
export function Advanced({ count, changed, open, children }: { count: number; changed: number; open: boolean; children: ReactNode }) {
  const [wanted, setWanted] = useState(false);
  return (
    <details className="advanced" open={wanted || open} onToggle={(event) => setWanted(event.currentTarget.open)}>
      <summary>
        Advanced
        <small>
          {count} {count === 1 ? "field" : "fields"}
          {changed > 0 && `, ${changed} changed`}
        </small>
      </summary>
      <div className="fields">{children}</div>
    </details>
  );
}
