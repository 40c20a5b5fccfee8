import { createContext, useContext } from "react";
import { metricOf, metricTitle } from "../../model/study/metrics";
import { addEditors, type EditorProps } from "../../ui/form/editors";

/** Names that can be chosen: the axes, and what runs of the experiment measure. */
const Names = createContext<readonly string[]>([]);
export const MetricNames = Names.Provider;

/** A metric by its name, of those that there are. */
function MetricEditor({ id, value, onChange }: EditorProps) {
  const names = useContext(Names);
  const name = typeof value === "string" ? value : "";
  return (
    <div className="in">
      <input
        id={id}
        className="mono"
        list={`${id}-names`}
        value={name}
        placeholder="latency_ms.p99"
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value || undefined)}
      />
      <datalist id={`${id}-names`}>
        {names.map((one) => (
          <option key={one} value={one}>
            {one.includes(".") ? metricTitle(metricOf(one)) : ""}
          </option>
        ))}
      </datalist>
    </div>
  );
}

/** Forms of studies ask for it by this word. */
export const offerMetricEditor = () => addEditors({ metric: MetricEditor });
