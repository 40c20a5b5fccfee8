import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useLocation, useParams } from "react-router";
import { registryQuery } from "../../api/queries";
import type { Kind } from "../../api/types";
import { plural } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { helpFamilies, parametersOf, searchHelp, type HelpFamily } from "../../model/document/help";
import { startTour } from "../../session/tourState";
import { Icon } from "../../ui/Icon";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading } from "../../ui/states";
import { TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { Picture } from "./pictures";
import "./help.css";

const linkTo = (family: string, kind = "") => `/help/${family}${kind ? `/${kind}` : ""}`;

/** What each operator and policy does, from the same registry that the palette and the forms come from; every entry has its address. */
export function HelpPage() {
  const { family = "", kind = "" } = useParams();
  const [url, change] = useUrlState(["search"]);
  const { data, error, refetch } = useQuery(registryQuery);
  const families = useMemo(() => helpFamilies(data ?? {}), [data]);
  const found = useMemo(() => searchHelp(families, url.search), [families, url.search]);
  const shown = families.find((one) => one.family === family);
  const entry = shown?.kinds.find((one) => one.kind === kind);
  return (
    <div className="page on-help">
      <TopBar title={entry ? `${entry.title}, help` : "Help"} crumb={<h1>Help</h1>} />
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading />
      ) : (
        <div className="help">
          <nav className="panel" aria-label="Help topics">
            <div className="help-search">
              <SearchField
                label="Search help"
                hint="Search operators and policies"
                value={url.search}
                onChange={(search) => change({ search }, true)}
                width={224}
              />
            </div>
            <div className="scroll">
              <Topics families={found} here={entry ? linkTo(family, kind) : linkTo(family)} open={url.search ? null : family} />
              {!found.length && (
                <p className="mut small none">
                  Nothing matches “{url.search}”.{" "}
                  <button className="link" onClick={() => change({ search: "" })}>
                    Show all
                  </button>
                </p>
              )}
            </div>
          </nav>
          <article className="panel scroll" tabIndex={0} aria-label="Help text">
            {entry && shown ? (
              <Entry family={shown} kind={entry} />
            ) : shown ? (
              <Family family={shown} />
            ) : family ? (
              <Empty
                icon="search"
                title={`Help has no topic “${family}”`}
                action={
                  <Link className="btn" to="/help">
                    Back to start
                  </Link>
                }
              />
            ) : (
              <Beginning families={families} />
            )}
          </article>
        </div>
      )}
    </div>
  );
}

/** The families, with the kinds of the open one (of all when something is searched for). */
function Topics({ families, here, open }: { families: HelpFamily[]; here: string; open: string | null }) {
  const { search } = useLocation();
  return (
    <ul className="topics">
      {families.map(({ family, title, kinds }) => (
        <li key={family}>
          <Link to={linkTo(family) + search} aria-current={here === linkTo(family) ? "page" : undefined}>
            <b>{title}</b>
            <small>{kinds.length}</small>
          </Link>
          {(open === null || open === family) && (
            <ul>
              {kinds.map((kind) => (
                <li key={kind.kind}>
                  <Link to={linkTo(family, kind.kind) + search} aria-current={here === linkTo(family, kind.kind) ? "page" : undefined}>
                    {kind.title}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Families of many short entries, which no picture explains. */
const IN_TABLES = new Set(["measurements", "assertion_functions"]);

function Family({ family }: { family: HelpFamily }) {
  return (
    <>
      <h2>{family.title}</h2>
      <p>{family.what}</p>
      {IN_TABLES.has(family.family) ? (
        <table className="table help-parameters">
          <caption className="vh">{family.title}</caption>
          <TableHead columns={["Name", "Unit", "Meaning"]} />
          <tbody>
            {family.kinds.map((kind) => (
              <tr key={kind.kind}>
                <td>
                  <Link to={linkTo(family.family, kind.kind)}>{kind.title}</Link>
                </td>
                <td>{kind.unit}</td>
                <td>{kind.doc}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <ul className="entries">
          {family.kinds.map((kind) => (
            <li key={kind.kind}>
              <Picture family={family.family} kind={kind} />
              <div>
                <h3>
                  <Link to={linkTo(family.family, kind.kind)}>{kind.title}</Link>
                </h3>
                <p>{kind.doc.split("\n\n")[0]}</p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Entry({ family, kind }: { family: HelpFamily; kind: Kind }) {
  const parameters = parametersOf(kind);
  return (
    <>
      <p className="mut small">
        <Link to={linkTo(family.family)}>{family.title}</Link>
        {kind.group && ` / ${kind.group}`}
      </p>
      <h2>{kind.title}</h2>
      {!IN_TABLES.has(family.family) && <Picture family={family.family} kind={kind} />}
      {kind.doc.split(/\n\s*\n/).map((paragraph) => (
        <p key={paragraph}>{paragraph.replace(/\s*\n\s*/g, " ")}</p>
      ))}
      {kind.signatures?.map(({ text }) => (
        <p key={text}>
          <code>{text}</code>
        </p>
      ))}
      {kind.unit !== undefined && (
        <p>
          Unit: {kind.unit || "none"}
          {kind.type === "series" && ", one value for each frame"}
        </p>
      )}
      {kind.example && (
        <p>
          Example: <code>{kind.example}</code>
        </p>
      )}
      {kind.source && (
        <p className="mut">
          <Icon name="book" small /> {kind.source}
        </p>
      )}
      {parameters.length > 0 && (
        <table className="table help-parameters">
          <caption className="vh">Parameters of {kind.title}</caption>
          <TableHead columns={["Parameter", "Unit", "Values", "Meaning"]} />
          <tbody>
            {parameters.map(({ name, label, unit, type, range, description }) => (
              <tr key={name}>
                <td>
                  <b>{label}</b>
                  <code>{name}</code>
                </td>
                <td>{unit}</td>
                <td>{[type, range].filter(Boolean).join("; ")}</td>
                <td>{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

const STEPS: [title: string, text: string][] = [
  ["Draw", "Operators from the palette, connected by their ports, above the waterline; hosts below it. Or open a template."],
  ["Choose", "The workload of each source, the policies, the faults. Every field shows its unit, its range and its source."],
  ["Run", "The engine sends real records through real operators; only durations are modelled, in virtual time. Watch latency live; pause the run, step through it or slow it down."],
  ["Look", "A finished run keeps every frame. Move the cursor: topology, hosts and values show that moment."],
  ["Study", "Vary any fields of an experiment over a grid or at random, repeat it with several seeds, or search for the highest load it sustains. Use the Study button beside Run."],
  ["Compare", "Choose runs in the list to see their lines on one axis, their metrics, and the parameters that differ."],
];

function Beginning({ families }: { families: HelpFamily[] }) {
  return (
    <>
      <h2>How Millrace works</h2>
      <ol className="steps">
        {STEPS.map(([title, text]) => (
          <li key={title}>
            <b>{title}</b>
            <span>{text}</span>
          </li>
        ))}
      </ol>
      <p className="actions">
        <Link className="btn primary" to="/templates">
          <Icon name="gallery" />
          Open a template
        </Link>
        <Link className="btn" to="/" onClick={startTour}>
          <Icon name="flag" />
          Take the tour
        </Link>
        <Link className="btn" to="/learn">
          <Icon name="learn" />
          Lessons on checkpoints
        </Link>
      </p>
      <p>
        Keys: press <kbd>?</kbd> on the canvas. What each metric means, what is simplified, and how the model was checked is described in
        the pages under <code>docs/</code>.
      </p>
      <h2>Reference</h2>
      <ul className="families">
        {families.map(({ family, title, what, kinds }) => (
          <li key={family}>
            <Link to={linkTo(family)}>
              <b>{title}</b>
            </Link>
            <span>{what}</span>
            <small className="mut">{plural(kinds.length, "entry", "entries")}</small>
          </li>
        ))}
      </ul>
    </>
  );
}
