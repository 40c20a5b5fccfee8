import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { columnsNamed, namesOf, RUN_COLUMNS } from "./columns";

/** Which columns the list has; in the address only what is not usual. */
export function ColumnsMenu({ columns, onColumns }: { columns: string; onColumns: (columns: string) => void }) {
  const shown = columnsNamed(columns);
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
        RUN_COLUMNS.map((column) => {
          const on = shown.includes(column);
          const only = on && shown.length === 1;
          return (
            <label key={column.id} title={only ? "A list needs at least one column" : ""}>
              <input
                type="checkbox"
                checked={on}
                disabled={only}
                onChange={() => onColumns(namesOf(RUN_COLUMNS.filter((one) => (one === column ? !on : shown.includes(one)))))}
              />
              {column.label}
            </label>
          );
        })
      }
    </Menu>
  );
}
