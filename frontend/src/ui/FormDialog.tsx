import { useId, type ReactNode } from "react";
import { Remark } from "./Credentials";
import { Dialog } from "./Dialog";

/** A dialog that asks for something: its fields, why they cannot be sent yet, and what was wrong with them when they were. */
export function FormDialog({
  title,
  verb,
  why = "",
  busy,
  error,
  wide = false,
  className = "stack",
  onSubmit,
  onClose,
  children,
  testId,
}: {
  title: string;
  /** What the button says. */
  verb: string;
  why?: string;
  /** It is being sent. */
  busy: boolean;
  error?: Error | null;
  wide?: boolean;
  className?: string;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
  /** Of the button. */
  testId?: string;
}) {
  const form = useId();
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      footer={
        <>
          {why && <span className="mut small grow">{why}</span>}
          <button className="btn" onClick={onClose}>
            Cancel
          </button>
          <button className="btn primary" form={form} disabled={Boolean(why) || busy} title={why} data-testid={testId}>
            {verb}
          </button>
        </>
      }
    >
      <form
        id={form}
        className={className}
        onSubmit={(event) => {
          event.preventDefault();
          if (!why && !busy) onSubmit();
        }}
      >
        {children}
        {error && <Remark text={error.message} />}
      </form>
    </Dialog>
  );
}
