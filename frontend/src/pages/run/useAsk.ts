import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Question, Selection } from "../../api/types";
import { toast } from "../../ui/toasts";

/** Asks where the time of chosen records went; the same question has the same id. */
export function useAsk(run: string, onAsked: (id: string) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (selection: Selection) => post<Question>(`/api/runs/${run}/waterfalls`, selection),
    onSuccess: (question) => {
      if (question.note) toast(question.note, { tone: "warn", seconds: 12 });
      void client.invalidateQueries({ queryKey: ["waterfalls", run], exact: true });
      onAsked(question.id);
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
}
