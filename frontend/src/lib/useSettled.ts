import { useEffect, useState } from "react";

/** The server is asked when nothing was typed for so long. */
const ASK_AFTER_MS = 250;

/** A value that is typed, as it was when somebody last paused. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
