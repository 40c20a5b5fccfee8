import { useEffect, useState } from "react";
import { plural } from "../../../lib/format";
import { useEditor } from "../editor";

/** Sooner nobody wonders whether anything happens. */
const SHOWN_AFTER_S = 0.5;

/** While the auto-layout works: for how long already, and a way to stop it. */
export function ArrangeNote({ onCancel }: { onCancel: () => void }) {
  const count = useEditor((state) => state.document.query.operators.length);
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSeconds((performance.now() - began) / 1000), SHOWN_AFTER_S * 1000);
    return () => clearInterval(timer);
  }, []);
  if (seconds < SHOWN_AFTER_S) return null;
  return (
    <div className="arranging" data-testid="arranging">
      <span role="status">Laying out {plural(count, "operator")}</span>
      <span className="num">{Math.floor(seconds)} s</span>
      <button className="btn" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
