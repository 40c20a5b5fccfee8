/** What is asked of the models, and about which state of the experiment. It outlives the panel: a look at the inspector loses nothing. */
import { create } from "zustand";
import type { ExperimentDocument } from "../../../api/document";
import type { AdviceQuestion } from "../../../api/types";
import { asksTheSame, NO_SETTINGS } from "../../../model/document/advice";
import { regionsOf } from "../../../model/document/regions";
import { isShown, reveal, showSide, useEditor } from "../editor";

export interface Asking {
  /** Id of the experiment that all of this is about. */
  experiment: string;
  settings: AdviceQuestion;
  /** number: differs for each document that was asked about. */
  asked: { document: ExperimentDocument; number: number } | null;
}

export const useAsking = create<Asking>(() => ({ experiment: "", settings: NO_SETTINGS, asked: null }));

let count = 0;

/** Asks about the experiment as it is drawn now. */
export function askNow(): void {
  count += 1;
  useAsking.setState({ asked: { document: useEditor.getState().document, number: count } });
}

function askIfChanged(): void {
  const { asked } = useAsking.getState();
  if (!asked || !asksTheSame(asked.document, useEditor.getState().document)) askNow();
}

/** A change of the settings asks again, about the experiment as it is then. */
export function changeSettings(patch: Partial<AdviceQuestion>): void {
  useAsking.setState(({ settings }) => ({ settings: { ...settings, ...patch } }));
  askIfChanged();
}

/** Opens the panel, which asks at once. All that a preview can change comes into view. */
export function openAdvice(): void {
  const { id, document } = useEditor.getState();
  if (useAsking.getState().experiment !== id) useAsking.setState({ experiment: id, settings: NO_SETTINGS, asked: null });
  askIfChanged();
  showSide("advice");
  reveal([...document.query.operators.map((operator) => operator.id), ...regionsOf(document).map((region) => `hosts ${region}`)]);
}

/** The focus goes back to the button that opens it. */
export function closeAdvice(): void {
  showSide("inspector");
  window.document.querySelector<HTMLElement>('[data-command="suggest"]')?.focus();
}

export const toggleAdvice = () => (isShown(useEditor.getState(), "advice") ? closeAdvice() : openAdvice());
