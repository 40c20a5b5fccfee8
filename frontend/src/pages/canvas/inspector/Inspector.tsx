import { useEffect, useRef } from "react";
import { edgeKey, operatorOf } from "../../../model/document/document";
import { faultsOf } from "../../../model/document/faults";
import { regionLinksOf } from "../../../model/document/regions";
import { targetOf } from "../../../model/document/validate";
import { Tabs } from "../../../ui/Tabs";
import { useEditor, type InspectorTab } from "../editor";
import { AboutPanel } from "./AboutPanel";
import { EdgePanel } from "./EdgePanel";
import { FaultPanel } from "./FaultPanel";
import { HostPanel } from "./HostPanel";
import { ManyPanel } from "./ManyPanel";
import { MeasurementPanel } from "./MeasurementPanel";
import { OperatorPanel } from "./OperatorPanel";
import { PanelBoundary } from "./PanelBoundary";
import { PoliciesPanel } from "./PoliciesPanel";
import { RegionLinkPanel } from "./RegionLinkPanel";
import { WorkloadPanel } from "./WorkloadPanel";

/** What is selected, and what governs the whole experiment. Every form comes from a JSON Schema of the registry. */
export function Inspector() {
  const tab = useEditor((state) => state.tab);
  const focus = useEditor((state) => state.focus);
  const document = useEditor((state) => state.document);
  const selection = useEditor((state) => state.selection);
  const body = useRef<HTMLDivElement>(null);

  // A problem was chosen: show its field, unfold what hides it, focus it.
  useEffect(() => {
    if (!focus || !body.current) return;
    const timer = setTimeout(() => showField(body.current as HTMLElement, focus.pointer), 60);
    return () => clearTimeout(timer);
  }, [focus]);

  const operator = selection.operators.length === 1 ? operatorOf(document, selection.operators[0] as string) : undefined;
  const edge =
    !selection.operators.length && selection.edges.length === 1
      ? document.query.edges.find((one) => edgeKey(one) === selection.edges[0])
      : undefined;
  const host = selection.host === null ? undefined : document.cluster.hosts[selection.host];
  const regionLink = regionLinksOf(document)[selection.regionLink ?? -1];
  const fault = faultsOf(document)[selection.fault ?? -1];
  const title = fault ? "Fault" : operator ? "Operator" : edge ? "Edge" : host ? "Host" : regionLink ? "Link" : selection.operators.length > 1 ? "Operators" : "About";
  const tabs: { id: InspectorTab; label: string }[] = [
    { id: "selection", label: title },
    { id: "workload", label: "Workload" },
    { id: "policies", label: "Policies" },
    { id: "measurement", label: "Measure" },
  ];
  return (
    <aside className="insp" aria-label="Inspector">
      <Tabs label="Inspector" tabs={tabs} value={tab} onChange={(id) => useEditor.setState({ tab: id })} />
      <div className="scroll" ref={body} data-testid="inspector">
        <PanelBoundary key={`${tab} ${title} ${JSON.stringify(selection)}`}>
        {tab === "selection" &&
          (fault && selection.fault !== null ? (
            <FaultPanel fault={fault} index={selection.fault} key={selection.fault} />
          ) : operator ? (
            <OperatorPanel operator={operator} />
          ) : edge ? (
            <EdgePanel edge={edge} edgeId={edgeKey(edge)} key={edgeKey(edge)} />
          ) : host && selection.host !== null ? (
            <HostPanel host={host} index={selection.host} />
          ) : regionLink && selection.regionLink !== null ? (
            <RegionLinkPanel link={regionLink} index={selection.regionLink} key={selection.regionLink} />
          ) : selection.operators.length > 1 ? (
            <ManyPanel ids={selection.operators} />
          ) : (
            <AboutPanel />
          ))}
        {tab === "workload" && <WorkloadPanel />}
        {tab === "policies" && <PoliciesPanel />}
        {tab === "measurement" && <MeasurementPanel />}
        </PanelBoundary>
      </div>
    </aside>
  );
}

/** The field at the pointer, or the nearest thing around it that is shown. */
function showField(root: HTMLElement, pointer: string): void {
  const target = targetOf(pointer, useEditor.getState().document);
  let here = pointer;
  let element: HTMLElement | null = null;
  while (here && !element) {
    element =
      root.querySelector(`[data-pointer="${CSS.escape(here)}"]`) ?? root.querySelector(`[data-pointer="${CSS.escape(`${here}/kind`)}"]`);
    here = here.slice(0, here.lastIndexOf("/"));
  }
  if (!element) return;
  const folded = element.closest<HTMLElement>("[data-unfold][hidden]");
  if (folded) (folded.previousElementSibling as HTMLElement | null)?.click();
  for (let at = element.closest("details"); at; at = at.parentElement?.closest("details") ?? null) at.open = true;
  requestAnimationFrame(() => {
    element.scrollIntoView({ block: "center" });
    element.classList.remove("flash");
    void element.offsetWidth;
    element.classList.add("flash");
    if (target.part !== "document") element.querySelector<HTMLElement>("input, select, textarea")?.focus({ preventScroll: true });
  });
}
