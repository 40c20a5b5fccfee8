import type { RecordField } from "../../../api/types";

/** Fields of a record, with their types. */
export function SchemaList({ title, fields, bytes }: { title: string; fields: RecordField[]; bytes?: number }) {
  return (
    <div className="schema">
      <header>
        <b>{title}</b>
        <span>{bytes === undefined ? "" : `${bytes} B`}</span>
      </header>
      <dl>
        {fields.map((field) => (
          <div key={field.name}>
            <dt>{field.name}</dt>
            <dd>{field.type}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
