import { useEffect, useId, useMemo, useRef, useState, type ComponentProps, type ReactNode } from "react";
import { create } from "zustand";
import { readNumber, stepNumber } from "../model/document/numbers";
import { Icon } from "./Icon";
import { toast } from "./toasts";

/** A field whose text is no number. Whatever it belongs to keeps the number that it had. */
export interface Unread {
  /** JSON pointer of the field in the document that is edited; empty in dialogs. */
  pointer: string;
  label: string;
  problem: string;
}

const useUnread = create<{ fields: { [key: string]: Unread } }>(() => ({ fields: {} }));

/** The fields on the page that hold no number: those of the document that is edited, or those of a dialog. */
export function useUnreadFields(of: "document" | "dialog"): Unread[] {
  const fields = useUnread((state) => state.fields);
  return useMemo(() => Object.values(fields).filter(({ pointer }) => (pointer !== "") === (of === "document")), [fields, of]);
}

/** Why what a dialog is for cannot start; "" if all of its fields hold numbers. */
export function useUnreadInDialog(): string {
  const [first] = useUnreadFields("dialog");
  return first ? `${first.label}: ${first.problem}` : "";
}

type Plain = Omit<ComponentProps<"input">, "value" | "onChange" | "type" | "inputMode" | "min" | "max" | "step">;

/**
 * A number as text. What is typed stays as it is; a text that is a number counts at once, any other says why it does not.
 * onChange gets undefined when the field is empty.
 */
export function NumberInput({
  label,
  pointer = "",
  unit = "",
  value,
  least,
  most,
  around,
  onChange,
  ...input
}: {
  /** How sentences elsewhere name the field. */
  label: string;
  pointer?: string;
  unit?: string;
  /** A draft may hold anything. */
  value: unknown;
  least?: number | undefined;
  most?: number | undefined;
  /** Buttons for one less and one more. */
  around?: [ReactNode, ReactNode];
  onChange: (value: number | undefined) => void;
} & Plain) {
  const [typed, setTyped] = useState<{ text: string; beside: unknown } | null>(null);
  const key = useId();
  const read = typed && readNumber(typed.text);
  // The text gives way once the value is changed from elsewhere: by undo, by another field.
  const stands = read && ("problem" in read ? typed.beside : (read.number ?? undefined)) === (value ?? undefined);
  const text = stands ? typed.text : String(value ?? "");
  const problem = stands && "problem" in read ? read.problem : "";
  useEffect(() => {
    if (!problem) return;
    useUnread.setState(({ fields }) => ({ fields: { ...fields, [key]: { pointer, label, problem } } }));
    return () => useUnread.setState(({ fields: { [key]: _gone, ...fields } }) => ({ fields }));
  }, [key, pointer, label, problem]);
  useSaidWhenLeft(pointer && problem && `${label}: ${problem} It stays ${String(value ?? "empty")}.`);
  const take = (next: string) => {
    setTyped({ text: next, beside: value ?? undefined });
    const now = readNumber(next);
    if ("number" in now) onChange(now.number ?? undefined);
  };
  const step = (by: 1 | -1) => {
    const from = Number(text.trim() || input.placeholder || 0);
    if (!Number.isNaN(from)) take(String(stepNumber(from, by, least, most)));
  };
  return (
    <>
      <span className={`in ${around ? "number" : ""} ${problem ? "err" : ""} ${input.disabled ? "off" : ""}`}>
        {around?.[0]}
        <input
          autoComplete="off"
          spellCheck={false}
          {...input}
          type="text"
          inputMode="decimal"
          role="spinbutton"
          value={text}
          aria-valuenow={typeof value === "number" ? value : undefined}
          aria-valuemin={least}
          aria-valuemax={most}
          aria-invalid={Boolean(problem) || input["aria-invalid"]}
          aria-describedby={problem ? `${key}-problem` : undefined}
          onChange={(event) => take(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
            event.preventDefault();
            step(event.key === "ArrowUp" ? 1 : -1);
          }}
        />
        {around?.[1]}
        {unit && <span>{unit}</span>}
      </span>
      {problem && (
        <p className="remark err" id={`${key}-problem`} role="alert">
          <Icon name="crossc" small />
          <span>{problem}</span>
        </p>
      )}
    </>
  );
}

/** A text that is no number goes when its form does: say so, rather than let another number stand without a word. */
function useSaidWhenLeft(text: string): void {
  const last = useRef(text);
  useEffect(() => {
    last.current = text;
  });
  useEffect(() => () => void (last.current && toast(last.current, { tone: "warn", seconds: 10 })), []);
}
