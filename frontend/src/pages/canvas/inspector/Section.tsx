import { useState, type ReactNode } from "react";
import { WriteArea } from "../../../session/may";
import { Icon } from "../../../ui/Icon";

/** A part of the inspector that folds; its summary stays readable when it is closed. */
export function Section({
  title,
  summary,
  open = true,
  reads = false,
  children,
}: {
  title: string;
  summary?: ReactNode;
  open?: boolean;
  /** Nothing in it changes anything. */
  reads?: boolean;
  children: ReactNode;
}) {
  const [shown, setShown] = useState(open);
  // Kept in the page when folded, so that a jump to a field finds it and can unfold it.
  const body = { className: "form", hidden: !shown, "data-unfold": title, children };
  return (
    <section className="sec">
      <button className="fold" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name={shown ? "down" : "right"} small />
        {title}
        <span className="ell">{summary}</span>
      </button>
      {reads ? <div {...body} /> : <WriteArea {...body} />}
    </section>
  );
}
