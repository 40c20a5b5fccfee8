import { useQueryClient } from "@tanstack/react-query";
import { post, remove } from "../api/client";
import { toast } from "../ui/toasts";

const UNDO_S = 10;

/** Deletes members of a list of the API ("experiments", which is also the key of its query), each with a way back for a while. */
export function useDeletion(list: string): (id: string, said: string) => Promise<void> {
  const client = useQueryClient();
  const send = async (request: Promise<unknown>) => {
    try {
      await request;
      return true;
    } catch (problem) {
      toast(problem instanceof Error ? problem.message : String(problem), { tone: "err" });
      return false;
    } finally {
      await client.invalidateQueries({ queryKey: [list] });
    }
  };
  return async (id, said) => {
    if (await send(remove(`/api/${list}/${id}`)))
      toast(said, { action: { label: "Undo", run: () => void send(post(`/api/${list}/${id}/restore`)) }, seconds: UNDO_S });
  };
}
