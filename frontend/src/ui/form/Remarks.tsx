import type { Problem } from "../../api/types";
import { TONE_ICON, toneOf } from "../../model/document/validate";
import { Icon } from "../Icon";

/** Problems under a field: what is wrong, its value, what would be right. */
export function Remarks({ problems }: { problems: Problem[] }) {
  return problems.map((problem, at) => (
    <p key={at} className={`remark ${toneOf(problem)}`}>
      <Icon name={TONE_ICON[toneOf(problem)]} small />
      <span>
        {problem.message}
        {problem.hint ? ` (${problem.hint})` : ""}
      </span>
    </p>
  ));
}
