import { faultsOf } from "../../model/document/faults";
import { sentenceOf } from "../../model/document/naming";
import { TONE_ICON, toneOf, worstTone } from "../../model/document/validate";
import { Icon } from "../../ui/Icon";
import { Tabs } from "../../ui/Tabs";
import { goTo, useEditor } from "./editor";
import { AddFault, Faults } from "./Faults";
import { useProblems } from "./useProblems";
import { WorkloadPreview } from "./WorkloadPreview";

/** Workload preview, faults and problems, under the stage. */
export function Drawer() {
  const drawer = useEditor((state) => state.drawer);
  const open = useEditor((state) => state.drawerOpen);
  const problems = useProblems();
  const workload = useEditor((state) => state.document.workload);
  const faults = useEditor((state) => faultsOf(state.document).length);
  return (
    <section className={`drawer ${open ? "" : "folded"}`} aria-label="Workload, faults, problems">
      <Tabs
        label="Drawer"
        value={drawer}
        onChange={(id) => useEditor.setState({ drawer: id, drawerOpen: true })}
        tabs={[
          { id: "workload", label: "Workload" },
          { id: "faults", label: <>Faults {faults > 0 && <span className="num">{faults}</span>}</> },
          {
            id: "problems",
            label: <>Problems {problems.length > 0 && <span className={`cnt ${worstTone(problems)}`}>{problems.length}</span>}</>,
          },
        ]}
        end={
          <>
            {open && drawer === "faults" && faults > 0 && <AddFault />}
            <button
              className="link"
              title="Change horizon, warm-up and seed"
              onClick={() => useEditor.setState({ tab: "workload", inspectorOpen: true, side: "inspector" })}
            >
              horizon {workload.horizon_s ?? 30} s, seed {workload.seed ?? 1}
            </button>
            <button
              className="btn ghost icon"
              aria-expanded={open}
              title={open ? "Collapse the drawer (Ctrl+J)" : "Expand the drawer (Ctrl+J)"}
              aria-label={open ? "Collapse the drawer" : "Expand the drawer"}
              onClick={() => useEditor.setState({ drawerOpen: !open })}
            >
              <Icon name={open ? "down" : "right"} />
            </button>
          </>
        }
      />
      {open && (drawer === "workload" ? <WorkloadPreview /> : drawer === "faults" ? <Faults /> : <Problems />)}
    </section>
  );
}

const PROBLEMS_SHOWN_MAX = 100;

function Problems() {
  const problems = useProblems();
  if (!problems.length)
    return (
      <p className="none">
        <Icon name="checkc" />
        No problems: this experiment can run.
      </p>
    );
  return (
    <ul className="probs scroll" data-testid="problems">
      {problems.slice(0, PROBLEMS_SHOWN_MAX).map((problem, at) => (
        <li key={at} className={toneOf(problem)}>
          <Icon name={TONE_ICON[toneOf(problem)]} />
          <div>
            {sentenceOf(problem)}
            <small className="mono">
              {problem.pointer || "/"}
              {problem.hint ? `, ${problem.hint}` : ""}
            </small>
          </div>
          <button className="btn" onClick={() => goTo(problem.pointer)}>
            Show field
          </button>
        </li>
      ))}
      {problems.length > PROBLEMS_SHOWN_MAX && <li className="mut">and {problems.length - PROBLEMS_SHOWN_MAX} more</li>}
    </ul>
  );
}
