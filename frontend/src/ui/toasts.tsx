import { create } from "zustand";
import { Icon } from "./Icon";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "warn" | "err";
  action?: { label: string; run: () => void };
}

const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));
let lastId = 0;

const drop = (id: number) => useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));

/** Says something in the lower right corner for a while. Returns a function that takes it away. */
export function toast(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"]; seconds?: number } = {}): () => void {
  lastId += 1;
  const id = lastId;
  const entry: Toast = { id, text, tone: options.tone ?? "plain", ...(options.action ? { action: options.action } : {}) };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.filter((one) => one.text !== text).slice(-2), entry] }));
  const timer = setTimeout(() => drop(id), (options.seconds ?? 6) * 1000);
  return () => {
    clearTimeout(timer);
    drop(id);
  };
}

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((one) => (
        <div key={one.id} className={`toast ${one.tone}`} data-testid="toast">
          {one.tone !== "plain" && <Icon name={one.tone === "err" ? "crossc" : "warn"} />}
          <span>{one.text}</span>
          {one.action && (
            <button
              className="btn"
              onClick={() => {
                one.action?.run();
                drop(one.id);
              }}
            >
              {one.action.label}
            </button>
          )}
          <button className="btn ghost icon" aria-label="Dismiss" onClick={() => drop(one.id)}>
            <Icon name="cross" small />
          </button>
        </div>
      ))}
    </div>
  );
}
