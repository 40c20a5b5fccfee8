import { useEffect, useRef, useState } from "react";
import { Icon } from "./Icon";

const SEARCH_AFTER_MS = 250;

/** A field whose text is handed on when somebody pauses in typing. */
export function SearchField({
  label,
  hint,
  value,
  onChange,
  width = 280,
  length = 200,
  first = false,
}: {
  label: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
  width?: number;
  /** So many letters it takes. */
  length?: number;
  /** A dialog begins with it. */
  first?: boolean;
}) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // The address changed by itself ("back", "Show all"): what was typed goes with it.
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]); // eslint-disable-line react-hooks/exhaustive-deps -- only what is typed starts a search
  return (
    <label className="find" style={{ width }}>
      <Icon name="search" />
      <input
        aria-label={label}
        placeholder={hint}
        value={text}
        maxLength={length}
        data-autofocus={first ? "" : undefined}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}
