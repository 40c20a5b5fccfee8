import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { isActive, STUDIES_PER_PAGE, studiesQuery } from "../../api/queries";
import type { Study } from "../../api/types";
import { tookText, when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { DeleteButton } from "../../session/may";
import { useDeletion } from "../../session/useDeletion";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { Pager } from "../../ui/Pager";
import { Empty, StateBadge } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { Progress } from "./Progress";
import "./studies.css";

/** All studies of the lab, the newest first; what changes is told, not asked for. */
export function StudiesPage() {
  const [url, change] = useUrlState(["offset"]);
  const offset = Number(url.offset) || 0;
  const { data, error, refetch, isPlaceholderData } = useQuery(studiesQuery(offset));
  const studies = data?.items ?? [];
  const count = data?.count ?? 0;
  return (
    <div className="page on-studies">
      <TopBar
        title="Studies"
        crumb={<h1>Studies</h1>}
        actions={
          <Link className="btn primary" to="/studies/new" data-testid="new-study">
            <Icon name="plus" />
            New study
          </Link>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <span className="mut small">A study is many runs of one experiment: how results depend on its fields, and how much load it sustains.</span>
          <span className="grow" />
          <Count of={data && count} one="study" many="studies" />
        </div>
        <ListPanel label="Studies" data-testid="study-list" error={error} loading={!data} retry={refetch} stale={isPlaceholderData}>
          {studies.length ? (
            <StudyTable studies={studies} />
          ) : (
            <Empty
              icon="studies"
              title="No study yet"
              action={
                <span className="row-of-two">
                  <Link className="btn primary" to="/studies/new">
                    <Icon name="plus" />
                    New study
                  </Link>
                  <Link className="btn" to="/experiments">
                    Choose an experiment
                  </Link>
                </span>
              }
            >
              Open an experiment and press Study: vary its fields over a grid, repeat it with several seeds, or search for the highest
              load it sustains. Runs that the lab already has are reused.
            </Empty>
          )}
        </ListPanel>
        <Pager offset={offset} size={STUDIES_PER_PAGE} count={count} onOffset={(next) => change({ offset: next })} />
      </div>
    </div>
  );
}

function StudyTable({ studies }: { studies: Study[] }) {
  const erase = useDeletion("studies");
  return (
    <table className="table studies">
      <TableHead columns={["Name", "State", "Progress", ofNumbers("Done"), ofNumbers("Left"), ofNumbers("Failed"), "Created", ofNumbers("Took")]} actions />
      <tbody>
        {studies.map((study) => (
          <tr key={study.id} data-testid={`study-${study.id}`}>
            <td>
              <Link to={`/studies/${study.id}`} title={study.name}>
                <b>{study.name}</b>
              </Link>
            </td>
            <td>
              <span title={study.error ?? ""}>
                <StateBadge state={study.state} />
              </span>
            </td>
            <td>
              <Progress study={study} />
            </td>
            <td className="num">
              <Link to={`/runs?study=${study.id}`} title="Show its runs">
                {study.trials_done.toLocaleString("en-US")}
              </Link>
            </td>
            <td className="num">{isActive(study) ? (study.trials_left?.toLocaleString("en-US") ?? "–") : <span className="mut">–</span>}</td>
            <td className="num">{study.trials_failed ? <b className="bad">{study.trials_failed}</b> : <span className="mut">0</span>}</td>
            <td className="mut">{when(study.created_at)}</td>
            <td className="num">{tookText(study) ?? <span className="mut">–</span>}</td>
            <td className="num">
              <span className="row-actions">
                <Link
                  className="btn ghost icon"
                  title="Edit as new"
                  aria-label={`Edit ${study.name} as new`}
                  to={`/studies/new?study=${study.id}`}
                >
                  <Icon name="copy" />
                </Link>
                <DeleteButton
                  what={study.name}
                  title={isActive(study) ? "Delete; its runs in progress are cancelled" : "Delete; its runs stay"}
                  onClick={() => erase(study.id, `${study.name} deleted; its runs are kept.`)}
                />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
