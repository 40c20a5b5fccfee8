import { useEffect, useRef, useState, type ReactNode } from "react";

/** A button with a menu below it. A click inside, a click outside or Esc closes it. */
export function Menu({
  label,
  title,
  className = "btn ghost icon",
  refusal = null,
  children,
}: {
  label: ReactNode;
  title: string;
  className?: string;
  /** Why it cannot be opened, as a sentence. */
  refusal?: string | null;
  children: (close: () => void) => ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        setOpen(false);
        root.current?.querySelector("button")?.focus();
      }
    };
    document.addEventListener("pointerdown", outside, true);
    document.addEventListener("keydown", escape, true);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      document.removeEventListener("keydown", escape, true);
    };
  }, [open]);
  return (
    <span ref={root} style={{ position: "relative", display: "inline-flex" }}>
      <button
        className={className}
        title={refusal ?? title}
        disabled={refusal !== null}
        aria-label={refusal === null ? undefined : title}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && <div className="menu">{children(() => setOpen(false))}</div>}
    </span>
  );
}
