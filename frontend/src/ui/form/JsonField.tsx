import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { Icon } from "../Icon";

/** A parameter of a type that this page does not know: its value as JSON, or as plain text. */
export function JsonField({ formData, onChange, fieldPathId }: FieldProps) {
  const given = formData === undefined ? "" : typeof formData === "string" ? formData : JSON.stringify(formData);
  const [text, setText] = useState(given);
  const [wrong, setWrong] = useState("");
  const change = (next: string) => {
    setText(next);
    const value = readJson(next);
    setWrong(value === BROKEN ? "Not valid JSON yet; it is applied once it is valid." : "");
    if (value !== BROKEN) onChange(value, fieldPathId.path, undefined, fieldPathId.$id);
  };
  return (
    <>
      <div className="in">
        <textarea id={fieldPathId.$id} rows={2} value={text} spellCheck={false} placeholder="JSON" onChange={(event) => change(event.target.value)} />
      </div>
      {wrong && (
        <p className="remark warn">
          <Icon name="warn" small />
          <span>{wrong}</span>
        </p>
      )}
    </>
  );
}

const BROKEN = Symbol("not JSON");

/** What begins as JSON must be JSON; anything else is a text. */
function readJson(text: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return /^\s*[[{"]/.test(text) ? BROKEN : text;
  }
}
