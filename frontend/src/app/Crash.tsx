import { useRouteError } from "react-router";
import { Icon } from "../ui/Icon";
import { Empty } from "../ui/states";

/** A fault of the page itself. Edits older than a second are saved; a reload goes on from there. */
export function Crash() {
  const error = useRouteError();
  return (
    <Empty
      icon="crossc"
      title="This page has crashed"
      action={
        <button className="btn" onClick={() => window.location.reload()}>
          <Icon name="rerun" />
          Reload
        </button>
      }
    >
      {error instanceof Error ? error.message : String(error)}. Edits older than one second are saved.
    </Empty>
  );
}
