import type { IconName } from "./icons";
import { Empty } from "./states";

/** A search or a filter finds nothing in a list: the way out is the whole of it. of: what the list has, as one. */
export function NoMatch({ icon, of, onShowAll }: { icon: IconName; of: string; onShowAll: () => void }) {
  return (
    <Empty
      icon={icon}
      title={`No ${of} matches`}
      action={
        <button className="btn" onClick={onShowAll}>
          Show all {of}s
        </button>
      }
    />
  );
}
