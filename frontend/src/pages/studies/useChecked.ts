import { useEffect, useState } from "react";
import { post } from "../../api/client";
import type { StudyChecked } from "../../api/types";
import type { StudyDocument } from "../../model/study/study";

const CHECK_AFTER_MS = 300;

/** What the server says about a study, a moment after each change; `fresh`: about the study as it is now. */
export function useChecked(study: StudyDocument): { checked: StudyChecked | null; fresh: boolean; lost: string } {
  const [state, setState] = useState<{ checked: StudyChecked | null; of: StudyDocument | null; lost: string }>({ checked: null, of: null, lost: "" });
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const checked = await post<StudyChecked>("/api/studies/validate", { document: study }, controller.signal);
        setState({ checked, of: study, lost: "" });
      } catch (error) {
        if (!controller.signal.aborted)
          setState((before) => ({ ...before, lost: error instanceof Error ? error.message : String(error) }));
      }
    }, CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [study]);
  return { checked: state.checked, fresh: state.of === study, lost: state.lost };
}
