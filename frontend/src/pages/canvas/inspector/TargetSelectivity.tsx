import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../../../api/client";
import type { Threshold } from "../../../api/types";
import { short } from "../../../lib/format";
import { withParams } from "../../../model/graph/graph";
import { inStep, joinOf } from "../../../model/graph/similarity";
import { edit, useEditor } from "../editor";

/** Sets the threshold of a similarity join by the share of pairs that shall match. A sample of its sources' records says what that is. */
export function TargetSelectivity({ operator }: { operator: string }) {
  const document = useEditor((state) => state.document);
  const invalid = useEditor((state) => state.problems.length > 0);
  const [typed, setTyped] = useState("1");
  const join = joinOf(document, operator);
  const percent = Number(typed);
  const find = useMutation({
    mutationFn: () => post<Threshold>("/api/threshold", { document, operator: join, selectivity: percent / 100 }),
    onSuccess: ({ threshold }) =>
      edit((before) => inStep(before, withParams(before, operator, (params) => ({ ...params, threshold })), operator), "threshold"),
  });
  if (!join) return null;
  const wrong = !(percent > 0 && percent < 100);
  const why = invalid ? "The experiment has errors; correct them first" : wrong ? "Enter a share above 0 and below 100 %" : "";
  const { data, error } = find;
  const problem = error instanceof ApiError ? (error.problems[0]?.message ?? error.message) : error?.message;
  return (
    <form
      className="selectivity"
      aria-label="Target selectivity"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why && !find.isPending) find.mutate();
      }}
    >
      <label htmlFor="target-selectivity">Target selectivity</label>
      <input
        id="target-selectivity"
        className="in"
        inputMode="decimal"
        value={typed}
        aria-invalid={wrong}
        onChange={({ target }) => setTyped(target.value.trim())}
      />{" "}
      %
      <button className="btn" disabled={Boolean(why) || find.isPending} title={why || "By a sample of the sources' records"} data-testid="set-threshold">
        {find.isPending ? "Comparing …" : "Set threshold"}
      </button>
      {data && !problem && (
        <p className="doc" role="status">
          At {data.threshold}, {short(100 * data.share)} % of {short(data.pairs)} pairs match: records of{" "}
          {[...new Set(Object.values(data.sources))].join(" and ")}, compared as they are made.
        </p>
      )}
      {problem && (
        <p className="remark err" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
