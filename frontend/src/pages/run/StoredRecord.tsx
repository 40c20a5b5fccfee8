import type { StoredRecord as Stored } from "../../api/types";
import { short } from "../../lib/format";
import { copiesOf, keyOf, metBy, ruleOf, SIDE_NAMES, type Copy } from "../../model/run/storedRecords";

/** Asks for one of the stored records that frames tell of, and says where its copies are and whom they meet. */
export function StoredRecord({
  records,
  at_s,
  chosen,
  choose,
  threshold,
  oneStream,
}: {
  records: readonly Stored[];
  at_s: number;
  chosen: Stored | null;
  choose: (key: string) => void;
  threshold: number;
  oneStream: boolean;
}) {
  const sides = oneStream ? [0] : [0, 1];
  const others = chosen && !oneStream ? `${SIDE_NAMES[1 - chosen.side] ?? ""} ` : "";
  return (
    <div className="route" data-testid="stored-record">
      <p>
        <label title="Some of the records in the newest window, each with all of its copies">
          Stored record{" "}
          <select className="in" value={chosen ? keyOf(chosen) : ""} onChange={({ target }) => choose(target.value)}>
            <option value="">{records.length ? `one of ${records.length} shown, as of ${at_s.toFixed(1)} s` : "none is stored at this moment"}</option>
            {sides.map((side) => (
              <optgroup key={side} label={oneStream ? "Records" : side === 0 ? "Left" : "Right"}>
                {records
                  .filter((record) => record.side === side)
                  .map((record) => (
                    <option key={keyOf(record)} value={keyOf(record)}>
                      {named(record)}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        </label>
        {chosen && (
          <button className="link" onClick={() => choose("")}>
            Clear
          </button>
        )}
      </p>
      {chosen && (
        <>
          <ul>
            {copiesOf(chosen).map((copy, _, copies) => (
              <li key={`${copy.space}.${copy.number}.${copy.worker}`}>
                <b>
                  {copy.role === "outer" ? "Copy in" : "At home in"} workset {copy.space}.{copy.number}
                </b>{" "}
                on worker {copy.worker}
                {copy.distance !== null && `, ${copy.distance.toFixed(4)} from its centroid`}. Role{" "}
                {ruleOf(copy, copies[0]?.space ?? copy.space, threshold)}. {meeting(copy, others)}
              </li>
            ))}
          </ul>
          <p className="hint">
            Lines lead to its worksets. Of the other records shown, it meets {metBy(chosen, records, oneStream).length}: the filled dots.
          </p>
        </>
      )}
    </div>
  );
}

const named = ({ event_s, at }: Stored) => `${event_s.toFixed(3)} s, at ${at.map((value) => value.toFixed(3)).join(", ")}`;

/** Whom a copy meets in its workset. Of each pair the record that came later is compared with the one that was stored. */
function meeting({ compared, uncompared, left }: Copy, others: string): string {
  const parts = [`Compared with ${short(compared)} ${others}${compared === 1 ? "record" : "records"} there`];
  if (uncompared) parts.push(`matches ${short(uncompared)} inner ${uncompared === 1 ? "one" : "ones"} uncompared`);
  if (left) parts.push(`${short(left)} outer ${left === 1 ? "copy is" : "copies are"} left to another workset`);
  return `${parts.join("; ")}.`;
}
