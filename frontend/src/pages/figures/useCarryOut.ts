import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Scale } from "../../api/figure";
import { takeReproduction } from "../../api/news";
import type { Reproduction } from "../../api/types";
import { toast } from "../../ui/toasts";

const complain = (error: Error) => toast(error.message, { tone: "err" });

/** Has figures carried out at a scale, and stops that; how far they are is told by the news. */
export function useCarryOut() {
  const client = useQueryClient();
  const run = useMutation({
    mutationFn: async ({ figures, scale }: { figures: string[]; scale: Scale }) => {
      for (const figure of figures) {
        const row = await post<Reproduction>(`/api/figures/${figure}/reproductions`, { scale });
        takeReproduction(client, row);
        if (row.note) toast(row.note, { tone: "warn", seconds: 12 });
      }
    },
    onError: complain,
  });
  const cancel = useMutation({
    mutationFn: (row: Reproduction) => post<Reproduction>(`/api/figures/${row.figure}/reproductions/${row.id}/cancel`),
    onSuccess: (row) => takeReproduction(client, row),
    onError: complain,
  });
  return { run, cancel };
}
