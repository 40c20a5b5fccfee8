import { useState } from "react";
import { plural } from "../../lib/format";
import { found } from "../../lib/search";
import type { Field } from "../../model/study/fields";
import { valueText } from "../../model/study/study";
import { Dialog } from "../../ui/Dialog";
import { SearchField } from "../../ui/SearchField";
import { Empty } from "../../ui/states";

/** More are not listed; a longer search finds them. */
const SHOWN_MAX = 120;

/** Chooses among the experiment's own fields: where they are, what stands there now. */
export function FieldPicker({
  fields,
  chosen,
  onChoose,
  onClose,
}: {
  fields: readonly Field[];
  chosen: readonly string[];
  onChoose: (pointers: string[]) => void;
  onClose: () => void;
}) {
  const [search, setSearch] = useState("");
  const [pointers, setPointers] = useState(chosen);
  const matching = found(fields, search, (field) => `${field.label} ${field.path.join(" ")} ${field.pointer}`);
  // What the document says stands before what holds without being said.
  const shown = [...matching].sort((a, b) => Number(b.given) - Number(a.given)).slice(0, SHOWN_MAX);
  return (
    <Dialog
      title="Fields to vary"
      wide
      onClose={onClose}
      footer={
        <>
          <span className="mut small grow">
            {pointers.length ? `${plural(pointers.length, "field")} chosen; all are set to the same value` : "Choose one or more fields"}
          </span>
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button
            className="btn primary"
            disabled={!pointers.length}
            title={pointers.length ? "" : "Choose a field first"}
            onClick={() => onChoose([...pointers])}
          >
            Add
          </button>
        </>
      }
    >
      <SearchField label="Search fields" hint="Search by name or location" value={search} onChange={setSearch} width={360} first />
      <div className="scroll fields-to-pick" data-testid="fields">
        {!shown.length ? (
          <Empty icon="search" title={`No field matches “${search}”`} />
        ) : (
          <ul>
            {shown.map((field) => {
              const on = pointers.includes(field.pointer);
              return (
                <li key={field.pointer}>
                  <label className={on ? "on" : ""} title={[field.pointer, field.description, field.range].filter(Boolean).join("\n")}>
                    <input
                      type="checkbox"
                      checked={on}
                      onChange={() => setPointers(on ? pointers.filter((one) => one !== field.pointer) : [...pointers, field.pointer])}
                    />
                    <b className="ell">{field.label}</b>
                    <span className="mut ell">{field.path.join(" / ")}</span>
                    <span className="num ell">
                      {valueText(field.value)} <i>{field.unit}</i>
                      {!field.given && <i> default</i>}
                    </span>
                  </label>
                </li>
              );
            })}
          </ul>
        )}
        {matching.length > shown.length && <p className="note">and {plural(matching.length - shown.length, "field")} more: narrow the search</p>}
      </div>
    </Dialog>
  );
}
