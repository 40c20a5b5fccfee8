import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { adviceStateQuery } from "../../../api/queries";
import { useCommands, type Command } from "../../../session/commands";
import { Icon } from "../../../ui/Icon";
import { isShown, useEditor } from "../editor";
import { toggleAdvice } from "./asking";

/** Why no placement can be suggested now, as a sentence, or null. */
function useSuggestRefusal(): string | null {
  const { data, error } = useQuery(adviceStateQuery);
  const isEmpty = useEditor((state) => !state.document.query.operators.length);
  if (!data) return error ? error.message : "Checking whether there are trained models.";
  if (!data.available) return data.reason || "There are no trained models.";
  return isEmpty ? "Draw a query first." : null;
}

export const suggestCommand = (refusal: string | null): Command => ({
  group: "Experiment",
  does: "Suggest placement",
  keys: ["S"],
  run: toggleAdvice,
  refusal: () => (isShown(useEditor.getState(), "advice") ? null : refusal),
});

/** Offers the command while the canvas is shown. */
export function useSuggestCommand(): void {
  const refusal = useSuggestRefusal();
  useCommands(
    "suggest",
    useMemo(() => [suggestCommand(refusal)], [refusal]),
  );
}

/** Opens the panel with suggested placements. isMain: the one in the bar, which the panel gives the focus back to. */
export function SuggestButton({ isMain = false }: { isMain?: boolean }) {
  const refusal = useSuggestRefusal();
  const isOpen = useEditor((state) => isShown(state, "advice"));
  return (
    <button
      className="btn"
      data-command={isMain ? "suggest" : undefined}
      data-testid={isMain ? "suggest" : "suggest-here"}
      aria-pressed={isMain ? isOpen : undefined}
      disabled={refusal !== null && !isOpen}
      title={refusal ?? "Rank placements by what trained models predict; nothing is run (S)"}
      onClick={toggleAdvice}
    >
      <Icon name="models" />
      Suggest placement
    </button>
  );
}
