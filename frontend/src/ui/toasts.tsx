import { useEffect, useState } from "react";
import { create } from "zustand";
import { Icon } from "./Icon";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "warn" | "err";
  seconds: number;
  action?: { label: string; run: () => void };
}

const SHOWN_S = 6;
const OFFERED_S = 10; // there is a button to reach

const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));
let lastId = 0;

const drop = (id: number) => useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));

/** Says something in the lower right corner for a while. Returns a function that takes it away. */
export function toast(text: string, { tone = "plain", action, seconds }: Partial<Pick<Toast, "tone" | "action" | "seconds">> = {}): () => void {
  lastId += 1;
  const id = lastId;
  const entry: Toast = { id, text, tone, seconds: seconds ?? (action ? OFFERED_S : SHOWN_S), ...(action ? { action } : {}) };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.filter((one) => one.text !== text).slice(-2), entry] }));
  return () => drop(id);
}

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((one) => (
        <Line key={one.id} toast={one} />
      ))}
    </div>
  );
}

/** It stays while the pointer or the focus is on it. */
function Line({ toast: { id, text, tone, seconds, action } }: { toast: Toast }) {
  const [isOver, setOver] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = isOver || isFocused;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => drop(id), seconds * 1000);
    return () => clearTimeout(timer);
  }, [isHeld, id, seconds]);
  return (
    <div
      className={`toast ${tone}`}
      data-testid="toast"
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      {tone !== "plain" && <Icon name={tone === "err" ? "crossc" : "warn"} />}
      <span>{text}</span>
      {action && (
        <button
          className="btn"
          onClick={() => {
            action.run();
            drop(id);
          }}
        >
          {action.label}
        </button>
      )}
      <button className="btn ghost icon" aria-label="Dismiss" onClick={() => drop(id)}>
        <Icon name="cross" small />
      </button>
    </div>
  );
}
