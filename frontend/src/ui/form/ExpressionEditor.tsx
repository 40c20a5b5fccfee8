import { useId, useRef, useState } from "react";
import type { Kind } from "../../api/types";
import { callAt, type Completion, type Offer } from "../../model/document/completion";

/** A text in a language of expressions. Offers what can stand at the caret while one types, and on Ctrl+Space. */
export function ExpressionEditor({
  id,
  value,
  placeholder,
  functions,
  complete,
  onChange,
}: {
  id: string;
  value: string;
  placeholder: string;
  functions: Kind[];
  /** wanted: somebody asked for it, so an empty word will do. */
  complete: (text: string, caret: number, wanted: boolean) => Offer;
  onChange: (value: string) => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [offer, setOffer] = useState<Offer | null>(null);
  const [chosen, setChosen] = useState(0);
  const [caret, setCaret] = useState(-1);
  const list = useId();
  const items = offer?.items ?? [];
  const call = caret < 0 ? null : callAt(value, caret, functions);
  const chosenHelp = items[chosen]?.help;

  const look = (text: string, at: number, wanted = false) => {
    setOffer(complete(text, at, wanted));
    setChosen(0);
    setCaret(at);
  };
  const take = (item: Completion | undefined) => {
    if (!item || !offer) return;
    onChange(value.slice(0, offer.from) + item.text + value.slice(offer.to));
    const at = offer.from + item.caret;
    setOffer(null);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at, at);
      setCaret(at);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === " " && event.ctrlKey) look(value, event.currentTarget.selectionStart, true);
    else if (!items.length || event.ctrlKey || event.metaKey) return;
    else if (event.key === "ArrowDown") setChosen((chosen + 1) % items.length);
    else if (event.key === "ArrowUp") setChosen((chosen + items.length - 1) % items.length);
    else if (event.key === "Enter" || event.key === "Tab") take(items[chosen]);
    else if (event.key === "Escape") setOffer(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="expression">
      <div className="in">
        <textarea
          ref={field}
          id={id}
          rows={Math.min(6, 1 + Math.ceil(value.length / 34))}
          value={value}
          spellCheck={false}
          placeholder={placeholder}
          aria-autocomplete="list"
          aria-controls={items.length ? list : undefined}
          aria-activedescendant={items.length ? `${list}-${chosen}` : undefined}
          onChange={(event) => {
            onChange(event.target.value);
            look(event.target.value, event.target.selectionStart);
          }}
          onKeyDown={onKeyDown}
          // Not onSelect: it does not come while a press of the mouse elsewhere is not known to have ended.
          onKeyUp={(event) => setCaret(event.currentTarget.selectionStart)}
          onClick={(event) => setCaret(event.currentTarget.selectionStart)}
          onBlur={() => {
            setOffer(null);
            setCaret(-1);
          }}
        />
      </div>
      {items.length > 0 && (
        <div className="offer">
          <ul role="listbox" id={list} aria-label="Completions" data-testid="completions">
            {items.map((item, at) => (
              <li
                key={item.text}
                id={`${list}-${at}`}
                role="option"
                aria-selected={at === chosen}
                onPointerDown={(event) => {
                  event.preventDefault(); // the text keeps the focus
                  take(item);
                }}
              >
                <span className="mono ell">{item.text}</span>
                <small className="ell">{item.detail}</small>
              </li>
            ))}
          </ul>
          {chosenHelp && <p>{chosenHelp}</p>}
        </div>
      )}
      {!items.length && call && (
        <p className="called" role="status">
          <span className="mono">{call.called.signatures?.[0]?.text ?? call.called.title}</span> {call.called.doc}
        </p>
      )}
    </div>
  );
}
