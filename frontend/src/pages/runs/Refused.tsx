import { ApiError } from "../../api/client";
import { Empty, Failure } from "../../ui/states";

/** Why there is no answer: a search that cannot be read says what would be right, anything else can be tried again. */
export function Refused({ error, retry, onShowAll }: { error: unknown; retry: () => void; onShowAll: () => void }) {
  if (!(error instanceof ApiError) || error.status !== 422) return <Failure error={error} retry={retry} />;
  return (
    <Empty
      icon="filter"
      title="Invalid search"
      action={
        <button className="btn" onClick={onShowAll}>
          Show all runs
        </button>
      }
    >
      {error.message}
    </Empty>
  );
}
