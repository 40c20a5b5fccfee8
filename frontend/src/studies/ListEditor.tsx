import { useState } from "react";
import type { Json } from "../api/types";
import { readNumbers, readValues, writeValues } from "../model/values";
import { addEditors, type EditorProps } from "../ui/form/editors";
import { Icon } from "../ui/Icon";

/** A list in one line; it is taken as soon as it can be read. */
function ListEditor({ id, value, schema, onChange, read }: EditorProps & { read: (text: string) => Json[] }) {
  const given = writeValues(Array.isArray(value) ? (value as Json[]) : ((schema.default as Json[] | undefined) ?? []));
  const [typed, setTyped] = useState<string | null>(null);
  const [wrong, setWrong] = useState("");
  // What is typed stays as typed, until the list changes from elsewhere.
  const text = typed !== null && (wrong || same(typed, given, read)) ? typed : given;
  const change = (next: string) => {
    setTyped(next);
    try {
      onChange(read(next));
      setWrong("");
    } catch (problem) {
      setWrong(problem instanceof Error ? problem.message : String(problem));
    }
  };
  return (
    <>
      <div className={`in ${wrong ? "err" : ""}`}>
        <textarea
          id={id}
          rows={1 + Math.min(4, Math.floor(text.length / 60))}
          value={text}
          spellCheck={false}
          onChange={(event) => change(event.target.value)}
        />
      </div>
      {wrong && (
        <p className="remark err">
          <Icon name="crossc" small />
          <span>{wrong}</span>
        </p>
      )}
    </>
  );
}

function same(text: string, given: string, read: (text: string) => Json[]): boolean {
  try {
    return writeValues(read(text)) === given;
  } catch {
    return false;
  }
}

const Values = (props: EditorProps) => <ListEditor {...props} read={readValues} />;
const Numbers = (props: EditorProps) => <ListEditor {...props} read={readNumbers} />;

/** Forms of studies ask for them by these words. */
export const offerListEditors = () => addEditors({ values: Values, numbers: Numbers });
