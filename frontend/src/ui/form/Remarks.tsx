import type { Problem } from "../../api/types";
import { isError } from "../../model/document/validate";
import { Icon } from "../Icon";

/** Problems under a field: what is wrong, its value, what would be right. */
export function Remarks({ problems }: { problems: Problem[] }) {
  return problems.map((problem, at) => (
    <p key={at} className={`remark ${isError(problem) ? "err" : "warn"}`}>
      <Icon name={isError(problem) ? "crossc" : "warn"} small />
      <span>
        {problem.message}
        {problem.hint ? ` (${problem.hint})` : ""}
      </span>
    </p>
  ));
}

/** How a field with these problems looks. */
export const toneOf = (problems: Problem[]) => (problems.some(isError) ? "err" : problems.length ? "warn" : "");
