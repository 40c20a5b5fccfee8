import { useMutation } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { Exactness as Found, Run } from "../../api/types";
import { plural, short } from "../../lib/format";

/** Checks, when asked, whether a join found the pairs that comparing all records finds. */
export function Exactness({ run, join }: { run: Run; join: string }) {
  const check = useMutation({ mutationFn: () => get<Found>(`/api/runs/${run.id}/exactness?join=${encodeURIComponent(join)}`) });
  const why = run.state === "succeeded" ? "" : "The pairs of a run that succeeded can be checked";
  const { data, error } = check;
  return (
    <div className="exactness">
      {data ? (
        <span className={`badge ${data.exact ? "ok" : "err"}`} title={said(data)} data-testid="exactness">
          {data.exact ? `Exact: ${plural(data.pairs, "pair")}` : `Not exact: ${plural(data.pairs, "pair")} instead of ${data.least.toLocaleString("en-US")}`}
        </span>
      ) : (
        <button className="btn" disabled={Boolean(why) || check.isPending} title={why || "Compare all records with all"} onClick={() => check.mutate()}>
          {check.isPending ? "Comparing …" : "Check all pairs"}
        </button>
      )}
      {error && (
        <p className="remark err" role="alert">
          {error.message}
        </p>
      )}
    </div>
  );
}

const said = ({ records, most, least }: Found): string =>
  `Comparing all ${Object.values(records).map(short).join(" x ")} records finds ${short(least)} pairs` +
  (most > least ? `, and ${short(most - least)} more so near the threshold that rounding decides` : "");
