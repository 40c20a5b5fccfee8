import { ApiError } from "../../api/client";
import { faultOf } from "../../model/run/refusal";
import { Empty, Failure } from "../../ui/states";
import { NoRuns } from "./NoRuns";

type Address = Parameters<typeof faultOf>[1];

/**
 * Why there is no answer. What of the address the server refuses is named and can be taken away, and before a run has ended nothing is
 * measured yet; anything else can be tried again.
 */
export function Refused({
  error,
  retry,
  url,
  onShowAll,
  onChange,
}: {
  error: unknown;
  retry: () => void;
  url: Address;
  onShowAll: () => void;
  onChange: (changes: { [name: string]: string }) => void;
}) {
  if (!(error instanceof ApiError) || error.status !== 422) return <Failure error={error} retry={retry} />;
  const fault = faultOf(error.problems[0]?.pointer ?? "", url);
  if (!fault) return <NoRuns isUnended />;
  const { title, way, parameters } = fault;
  const leave = () => (parameters.length ? onChange(Object.fromEntries(parameters.map((name) => [name, ""]))) : onShowAll());
  return (
    <Empty
      icon="filter"
      title={title}
      action={
        <button className="btn" onClick={leave}>
          {way}
        </button>
      }
    >
      {error.message}
    </Empty>
  );
}
