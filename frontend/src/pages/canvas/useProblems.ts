import { useMemo } from "react";
import type { NamedProblem } from "../../model/document/naming";
import { useUnreadFields } from "../../ui/NumberInput";
import { useEditor } from "./editor";

/** What the server says about the document, after what only this page knows: fields whose text is no number. */
export function useProblems(): NamedProblem[] {
  const problems = useEditor((state) => state.problems);
  const unread = useUnreadFields("document");
  return useMemo(
    () => [
      ...unread.map(({ pointer, label, problem }) => ({
        pointer,
        code: "not_a_number",
        subject: label,
        message: problem,
        severity: "error" as const,
      })),
      ...problems,
    ],
    [unread, problems],
  );
}
