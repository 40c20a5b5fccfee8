import type { Problem, StudySchema } from "../../../api/types";
import type { Draft } from "../../../model/study/draft";
import type { StudyDocument } from "../../../model/study/study";

/** What each part of the editor is given. */
export interface PartProps {
  study: StudyDocument;
  schema: StudySchema;
  problems: Problem[];
  change: (changes: Partial<Draft>) => void;
}
