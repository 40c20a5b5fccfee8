import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { STATUSES } from "../../api/figure";
import { figuresQuery, lessonsQuery } from "../../api/queries";
import type { FigureItem } from "../../api/types";
import { dayOf, duration, when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { byPaper, lessonsOf, matching, shippedText, sourceText, statusesText, tallyText, underWayTally } from "../../model/figure/figure";
import { WriteButton } from "../../session/may";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { NoMatch } from "../../ui/NoMatch";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { Progress, StatusBadge, statusWord, Tally } from "./status";
import { useCarryOut } from "./useCarryOut";
import "./figures.css";

/** All figures by paper, with what became of each. What is searched for stands in the address. */
export function FiguresPage() {
  const [url, change] = useUrlState(["search", "status"]);
  const { data, error, refetch } = useQuery(figuresQuery);
  const shown = matching(data ?? [], url.search, url.status);
  const all = () => change({ search: "", status: "" });
  return (
    <div className="page on-figures">
      <TopBar title="Figures" crumb={<h1>Figures</h1>} />
      <div className="list-page">
        <div className="toolbar">
          <SearchField label="Search figures" hint="Title, paper, number" value={url.search} onChange={(search) => change({ search }, true)} width={220} />
          <div className="seg" role="radiogroup" aria-label="Status">
            {["", ...STATUSES].map((status) => (
              <label key={status}>
                <input type="radio" name="status" checked={url.status === status} onChange={() => change({ status })} />
                {status === "partly" ? "Partly" : status ? statusWord(status as FigureItem["status"]) : "All"}
              </label>
            ))}
          </div>
          <span className="grow" />
          <Count of={data && shown.length} one="figure" />
        </div>
        <div className="papers scroll" tabIndex={0} role="region" aria-label="Figures" data-testid="figure-list">
          {error ? (
            <Failure error={error} retry={() => void refetch()} />
          ) : !data ? (
            <Loading />
          ) : shown.length ? (
            byPaper(shown).map((paper) => <Paper key={paper.paper} {...paper} />)
          ) : data.length ? (
            <NoMatch icon="figures" of="figure" onShowAll={all} />
          ) : (
            <Empty
              icon="figures"
              title="No figures in this installation"
              action={
                <Link className="btn" to="/templates">
                  Open a template
                </Link>
              }
            >
              Figures are documents in fixtures/figures: the claim of a paper, how to measure it, and what must hold.
            </Empty>
          )}
        </div>
        <p className="mut small">
          A figure states what a paper claims and is measured again here. Its status is that of the latest result at the largest scale.
          Smoke scale takes seconds, dev minutes, paper as long as the scale of the paper takes. Results that come with Millrace count until
          you have one of your own.
        </p>
      </div>
    </div>
  );
}

function Paper({ paper, name, figures }: { paper: string; name: string; figures: FigureItem[] }) {
  const { run } = useCarryOut();
  const idle = figures.filter(({ under_way }) => !under_way.length);
  return (
    <section className="panel paper" aria-label={name}>
      <header className="ph">
        <h2>{name}</h2>
        <span className="mut">{statusesText(figures)}</span>
        <span className="grow" />
        <WriteButton
          className="btn"
          data-testid={`run-all-${paper}`}
          disabled={!idle.length || run.isPending}
          title={idle.length ? "One after the other, seconds each" : "All of them are in progress"}
          onClick={() => run.mutate({ figures: idle.map(({ id }) => id), scale: "smoke" })}
        >
          <Icon name="play" />
          Run {figures.length === 1 ? "it" : `all ${figures.length}`} at smoke scale
        </WriteButton>
      </header>
      <table className="table">
        <TableHead columns={["Figure", "Status", "Assertions", "Scale", ofNumbers("Runs"), "Engine", "Measured"]} actions />
        <tbody>
          {figures.map((figure) => (
            <Row key={figure.id} figure={figure} />
          ))}
        </tbody>
      </table>
      <Lessons paper={paper} />
    </section>
  );
}

/** Figures that explain, and measure nothing: they are lessons. */
function Lessons({ paper }: { paper: string }) {
  const { data = [] } = useQuery(lessonsQuery);
  const lessons = lessonsOf(data, paper);
  if (!lessons.length) return null;
  return (
    <p className="lessons-of">
      Step by step, in the lessons:
      {lessons.map(({ id, title, figure }) => (
        <Link key={id} to={`/learn/${id}`} title={title}>
          {figure ? `Figure ${figure}` : title}
        </Link>
      ))}
    </p>
  );
}

const NONE = <span className="mut">–</span>;

function Row({ figure }: { figure: FigureItem }) {
  const { run, cancel } = useCarryOut();
  const [active] = figure.under_way;
  const first = figure.status === "not run" ? active : undefined;
  return (
    <tr data-testid={`figure-${figure.id}`}>
      <td>
        <Link to={`/figures/${figure.id}`}>
          <b>{figure.title}</b>
        </Link>
        <small>{sourceText(figure.source)}</small>
      </td>
      <td>
        <StatusBadge status={figure.status} scale={figure.scale} underWay={active} />
        {figure.shipped && <small>{shippedText(figure.is_shipped, figure.shipped)}</small>}
      </td>
      <td>
        <Tally states={figure.assertions} />
        <small title={figure.lacking.length ? `Not: ${figure.lacking.join(", ")}` : ""}>
          {first ? underWayTally(figure.assertions, first) : tallyText(figure.assertions)}
          {!first && figure.lacking.length > 0 && `: ${figure.lacking.join(", ")}`}
        </small>
      </td>
      {active ? (
        <td colSpan={4}>
          <Progress row={active} />
        </td>
      ) : (
        <>
          <td>{figure.scale ?? NONE}</td>
          <td className="num" title={figure.seeds ? `Seeds ${figure.seeds.join(", ")}` : ""}>
            {figure.runs ?? NONE}
          </td>
          <td>{figure.engine_version ?? NONE}</td>
          <td title={figure.took_s === null ? "" : `Took ${duration(figure.took_s)}`}>{figure.created_at ? (figure.is_shipped ? dayOf(figure.created_at) : when(figure.created_at)) : NONE}</td>
        </>
      )}
      <td className="num">
        {active ? (
          <WriteButton
            className="btn"
            disabled={active.cancel_requested}
            title={active.cancel_requested ? "The workers stop within a second" : "Stop; completed runs are kept"}
            aria-label={`Cancel ${figure.title}`}
            onClick={() => cancel.mutate(active)}
          >
            <Icon name="cross" />
            <span className="lbl">Cancel</span>
          </WriteButton>
        ) : (
          <WriteButton
            className="btn"
            title="Takes seconds"
            disabled={run.isPending}
            aria-label={`Run at smoke scale: ${figure.title}`}
            onClick={() => run.mutate({ figures: [figure.id], scale: "smoke" })}
          >
            <Icon name="play" />
            <span className="lbl">Run at smoke scale</span>
          </WriteButton>
        )}
      </td>
    </tr>
  );
}
