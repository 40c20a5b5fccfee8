/** The short tour: where it stands, and whether this browser wants one. */
import { create } from "zustand";

const KEY = "millrace.tour";

export interface TourStep {
  /** What it points at; a step whose target is not on the page is passed over. */
  target: string;
  title: string;
  text: string;
}

export const TOUR: TourStep[] = [
  {
    target: '[data-testid="stage"]',
    title: "A query above, its hardware below",
    text: "Operators stand above the waterline, hosts below it. Coloured squares show which instance runs where. Drag an operator onto a host to place it.",
  },
  {
    target: '[aria-label="Palette"]',
    title: "Everything you draw with",
    text: "Drag an operator or a source onto the stage and connect the ports. Your own CSV or Parquet file becomes a source, too.",
  },
  {
    target: '[aria-label="Inspector"]',
    title: "Details of the selection",
    text: "Workload, policies and measurement have their own tabs. Each field shows its unit and range; errors appear below it.",
  },
  {
    target: '[data-testid="run"]',
    title: "Run it",
    text: "The charts grow while the engine runs. If something is missing, this button names it and takes you there.",
  },
  {
    target: '.rail a[href="/runs"]',
    title: "Every run is kept",
    text: "Search and tag runs, and choose two to four to compare: lines on one axis, figures, and the parameters that differ.",
  },
  {
    target: '.rail a[href="/help"]',
    title: "Help is here",
    text: "What each operator and policy does, with its picture. You can take this tour again from there.",
  },
];

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "off";
  }
}

/** `offered`: somebody new is asked whether to take it. `at`: the step that is shown, null when none is. */
export const useTour = create<{ offered: boolean; at: number | null }>(() => ({ offered: stored() === "", at: null }));

export const startTour = () => useTour.setState({ offered: false, at: 0 });

/** Also for who does not want it: it is not offered again. */
export function endTour(): void {
  try {
    localStorage.setItem(KEY, "off");
  } catch {
    // Without a store it is offered again next time, and nothing else is lost.
  }
  useTour.setState({ offered: false, at: null });
}
