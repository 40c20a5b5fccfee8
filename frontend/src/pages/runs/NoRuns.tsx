import { Link } from "react-router";
import { Icon } from "../../ui/Icon";
import { Empty } from "../../ui/states";

/** There is nothing to show yet. isUnended: runs may be there, but none has ended. isHiding: runs of studies are left out. */
export function NoRuns({ isUnended = false, isHiding = false }: { isUnended?: boolean; isHiding?: boolean }) {
  return (
    <Empty
      icon="runs"
      title={isUnended ? "No run has ended yet" : "No run yet"}
      action={
        <Link className="btn primary" to="/templates">
          <Icon name="gallery" />
          Open a template
        </Link>
      }
    >
      Open a template or an experiment and press Run; {isUnended ? "what it measured appears here once it has ended." : "the run appears here with its progress."}
      {isHiding && " Runs of studies are hidden: tick “Runs of studies” to list them."}
    </Empty>
  );
}
