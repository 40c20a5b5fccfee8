import { useState } from "react";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { columnsNamed, namesOf, ofField, RUN_COLUMNS, type Column } from "./columns";
import { FieldList } from "./FieldMenu";

/** So many further fields fit beside the columns of the run. */
const FIELDS_MAX = 12;

/** Which columns the list has; in the address only what is not usual. */
export function ColumnsMenu({ columns, isWide, onColumns }: { columns: string; isWide: boolean; onColumns: (columns: string) => void }) {
  const shown = columnsNamed(columns, isWide);
  const [adding, setAdding] = useState(false);
  const fields = shown.flatMap(({ field }) => field ?? []);
  const choose = (next: readonly Column[]) => onColumns(namesOf(next, isWide));
  const toggle = (column: Column) =>
    shown.some(({ id }) => id === column.id)
      ? choose(shown.filter(({ id }) => id !== column.id))
      : choose([...RUN_COLUMNS.filter((one) => one === column || shown.includes(one)), ...shown.filter(({ field }) => field)]);
  return (
    <Menu
      title="Choose columns"
      className="btn"
      label={
        <>
          <Icon name="table" />
          Columns
        </>
      }
    >
      {() =>
        adding ? (
          <>
            <button onClick={() => setAdding(false)}>
              <Icon name="back" />
              Columns of the run
            </button>
            <FieldList
              offered={{ own: [], metrics: true, parameters: true }}
              chosen={fields}
              refusal={(name) => (!fields.includes(name) && fields.length >= FIELDS_MAX ? `At most ${FIELDS_MAX}; remove another one first` : "")}
              onToggle={(name) =>
                fields.includes(name) ? choose(shown.filter(({ id }) => id !== name)) : choose([...shown, ofField(name)])
              }
            />
          </>
        ) : (
          <div className="scroll columns">
            <button onClick={() => setAdding(true)} title="Show any number of the summary, or any value of the document">
              <Icon name="plus" />
              Metrics and parameters
              <small>{fields.length || ""}</small>
            </button>
            {[...RUN_COLUMNS, ...shown.filter(({ field }) => field)].map((column) => {
              const on = shown.some(({ id }) => id === column.id);
              const only = on && shown.length === 1;
              return (
                <label key={column.id} title={only ? "A list needs at least one column" : ""}>
                  <input type="checkbox" checked={on} disabled={only} onChange={() => toggle(column)} />
                  <span className="ell">{column.label}</span>
                </label>
              );
            })}
          </div>
        )
      }
    </Menu>
  );
}
