/** Controls that not everybody may use: for who may not they are disabled and say why. For everybody else they are what they were. */
import type { ButtonHTMLAttributes, FieldsetHTMLAttributes } from "react";
import type { Scope } from "../api/types";
import { Icon } from "../ui/Icon";
import { useRefusal } from "./who";

export function WriteButton({
  needs = "write",
  disabled,
  title,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { needs?: Scope }) {
  const refusal = useRefusal(needs);
  return <button {...rest} disabled={refusal !== null || disabled} title={refusal ?? title} />;
}

/** Deletes a row of a list. */
export function DeleteButton({ what, title = "Delete (can be undone)", onClick }: { what: string; title?: string; onClick: () => unknown }) {
  return (
    <WriteButton className="btn ghost icon" title={title} aria-label={`Delete ${what}`} onClick={() => void onClick()}>
      <Icon name="trash" />
    </WriteButton>
  );
}

/** A part of a page of which no control may be used. */
export function WriteArea({ className = "", title, ...rest }: FieldsetHTMLAttributes<HTMLFieldSetElement>) {
  const refusal = useRefusal();
  return <fieldset {...rest} className={`write-area ${className}`} disabled={refusal !== null} title={refusal ?? title} />;
}
