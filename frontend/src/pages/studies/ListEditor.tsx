import { useState } from "react";
import type { Json } from "../../api/types";
import { readNumbers, readValue, readValues, writeValue, writeValues } from "../../model/study/values";
import { addEditors, type EditorProps } from "../../ui/form/editors";
import { Icon } from "../../ui/Icon";

interface Written {
  read: (text: string) => Json;
  write: (value: Json | undefined) => string;
}

/** Values as text; it is taken as soon as it can be read. */
function TextEditor({ id, value, schema, onChange, read, write }: EditorProps & Written) {
  const given = write((value ?? schema.default) as Json | undefined);
  const [typed, setTyped] = useState<string | null>(null);
  const [wrong, setWrong] = useState("");
  // What is typed stays as typed, until the list changes from elsewhere.
  const text = typed !== null && (wrong || same(typed, given, { read, write })) ? typed : given;
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

function same(text: string, given: string, { read, write }: Written): boolean {
  try {
    return write(read(text)) === given;
  } catch {
    return false;
  }
}

const writeList = (value: Json | undefined) => writeValues(Array.isArray(value) ? value : []);
const writeOne = (value: Json | undefined) => (value === undefined ? "" : writeValue(value));

const Values = (props: EditorProps) => <TextEditor {...props} read={readValues} write={writeList} />;
const Numbers = (props: EditorProps) => <TextEditor {...props} read={readNumbers} write={writeList} />;
const Value = (props: EditorProps) => <TextEditor {...props} read={readValue} write={writeOne} />;

/** Forms of studies ask for them by these words. */
export const offerListEditors = () => addEditors({ values: Values, numbers: Numbers, value: Value });
