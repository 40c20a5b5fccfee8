import { useId } from "react";
import { paceIn } from "../model/run/pace";
import "./form/form.css";

/** A pace to start a run with; empty: as fast as possible. */
export function PaceField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const id = useId();
  const read = paceIn(value);
  const problem = "problem" in read ? read.problem : "";
  return (
    <div className={`field ${problem ? "err" : ""}`}>
      <label htmlFor={id}>
        Pace<i>can be changed while it runs</i>
      </label>
      <div className="in">
        <input
          id={id}
          inputMode="decimal"
          value={value}
          placeholder="as fast as possible"
          aria-invalid={Boolean(problem)}
          onChange={(event) => onChange(event.target.value)}
        />
        <span>× real time</span>
      </div>
      {problem && <p className="remark err">{problem}</p>}
    </div>
  );
}
