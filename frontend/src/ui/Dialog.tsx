import { useEffect, useRef, type ReactNode } from "react";
import { Icon } from "./Icon";

/**
 * A modal dialog, 480 or 720 px wide; what is marked data-autofocus begins with the focus.
 * Esc and the cross close it; the browser keeps the focus inside and gives it back.
 */
export function Dialog({
  title,
  wide = false,
  high = false,
  onClose,
  children,
  footer,
}: {
  title: string;
  wide?: boolean;
  /** Begins near the top, whatever its height: nothing jumps while a list in it grows and shrinks. */
  high?: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    dialog?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={`${wide ? "wide" : ""} ${high ? "high" : ""}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2>{title}</h2>
        <button className="btn ghost icon" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div className="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  );
}
