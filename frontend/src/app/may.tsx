/** Controls that not everybody may use: for who may not they are disabled and say why. For everybody else they are what they were. */
import type { ButtonHTMLAttributes, FieldsetHTMLAttributes } from "react";
import type { Scope } from "../api/types";
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

/** A part of a page of which no control may be used. */
export function WriteArea({ className = "", title, ...rest }: FieldsetHTMLAttributes<HTMLFieldSetElement>) {
  const refusal = useRefusal();
  return <fieldset {...rest} className={`write-area ${className}`} disabled={refusal !== null} title={refusal ?? title} />;
}
