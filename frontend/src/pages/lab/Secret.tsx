import { useRef } from "react";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

/** A text that is shown this once, with a button that copies it; where a page may not copy, it is selected for the keys. */
export function Secret({ label, text }: { label: string; text: string }) {
  const field = useRef<HTMLInputElement>(null);
  const byHand = () => {
    field.current?.focus();
    field.current?.select();
    toast("Copying is not allowed here: press Ctrl+C.", { tone: "warn" });
  };
  const copy = () => {
    if (!navigator.clipboard) return byHand();
    navigator.clipboard.writeText(text).then(() => toast("Copied."), byHand);
  };
  return (
    <div className="secret">
      <label className="in">
        <input ref={field} className="mono" aria-label={label} readOnly value={text} onFocus={(event) => event.target.select()} />
      </label>
      <button className="btn primary" data-autofocus onClick={copy}>
        <Icon name="copy" />
        Copy
      </button>
    </div>
  );
}
