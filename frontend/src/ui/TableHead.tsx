/** A column of numbers, which stand at the right. */
export const ofNumbers = (name: string) => ({ name });

/** The head of a table: its columns by name (what is false is left out), and with `actions` one more for the buttons of a row. */
export function TableHead({ columns, actions = false }: { columns: (string | { name: string } | false)[]; actions?: boolean }) {
  return (
    <thead>
      <tr>
        {columns.map((column) =>
          typeof column === "string" ? (
            <th key={column}>{column}</th>
          ) : (
            column && (
              <th key={column.name} className="num">
                {column.name}
              </th>
            )
          ),
        )}
        {actions && (
          <th>
            <span className="vh">Actions</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
