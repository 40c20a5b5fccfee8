import { Link } from "react-router";
import { Empty } from "./states";
import { TopBar } from "./TopBar";

export function NotFound() {
  return (
    <div className="page">
      <TopBar title="Not found" crumb={<b>Not found</b>} />
      <Empty
        icon="search"
        title="There is no page at this address"
        action={
          <Link className="btn" to="/experiments">
            Experiments
          </Link>
        }
      />
    </div>
  );
}
