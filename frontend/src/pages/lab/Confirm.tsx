import type { ReactNode } from "react";
import { Dialog } from "../../ui/Dialog";

/** Asked before what cannot be undone. */
export function Confirm({
  title,
  does,
  children,
  onYes,
  onClose,
}: {
  title: string;
  does: string;
  children: ReactNode;
  onYes: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <button className="btn" data-autofocus onClick={onClose}>
            Keep
          </button>
          <button
            className="btn danger"
            onClick={() => {
              onClose();
              onYes();
            }}
          >
            {does}
          </button>
        </>
      }
    >
      <p>{children}</p>
    </Dialog>
  );
}
