import { useState, type ReactNode } from "react";
import { Icon } from "../../ui/Icon";

/** A part of the inspector that folds; its summary stays readable when it is closed. */
export function Section({
  title,
  summary,
  open = true,
  children,
}: {
  title: string;
  summary?: ReactNode;
  open?: boolean;
  children: ReactNode;
}) {
  const [shown, setShown] = useState(open);
  return (
    <section className="sec">
      <button className="fold" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name={shown ? "down" : "right"} small />
        {title}
        <span className="ell">{summary}</span>
      </button>
      {/* Kept in the page when folded, so that a jump to a field finds it and can unfold it. */}
      <div className="form" hidden={!shown} data-unfold={title}>
        {children}
      </div>
    </section>
  );
}
