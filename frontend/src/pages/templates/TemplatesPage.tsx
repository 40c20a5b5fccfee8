import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import type { ExperimentDocument } from "../../api/document";
import { registryQuery, templatesQuery } from "../../api/queries";
import { plural, short } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { coerceDocument } from "../../model/document/coerce";
import { emptyDocument, horizonOf } from "../../model/document/document";
import { expandHosts } from "../../model/document/hosts";
import { WriteButton } from "../../session/may";
import { useCreate } from "../../session/useCreate";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { QueryPicture } from "../../ui/QueryPicture";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import "./templates.css";

/** Queries to start from, each with its picture. What is opened is a copy; the template stays as it is. */
export function TemplatesPage() {
  const [url, change] = useUrlState(["search"]);
  const { data, error, refetch } = useQuery(templatesQuery);
  const { data: registry } = useQuery(registryQuery);
  const create = useCreate();
  const templates = useMemo(() => (data ?? []).map(({ id, document }) => ({ id, document: coerceDocument(document) })), [data]);
  const icons = useMemo(() => new Map((registry?.operators ?? []).map(({ kind, icon }) => [kind, icon])), [registry]);
  const words = url.search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = templates.filter(({ document }) => words.every((word) => spoken(document).includes(word)));
  const busy = create.isPending ? "Creating an experiment" : "";
  return (
    <div className="page on-templates">
      <TopBar
        title="Templates"
        crumb={<h1>Templates</h1>}
        actions={
          <WriteButton className="btn" onClick={() => create.mutate(emptyDocument())} disabled={create.isPending} title={busy}>
            <Icon name="plus" />
            Empty experiment
          </WriteButton>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <SearchField
            label="Search templates"
            hint="Search by name, operator or stream"
            value={url.search}
            onChange={(search) => change({ search }, true)}
          />
          <span className="mut small">A template opens as a copy of your own: change anything.</span>
          <span className="grow" />
          <Count of={data && shown.length} one="template" />
        </div>
        <div className="scroll" tabIndex={0} role="region" aria-label="Templates">
          {error ? (
            <Failure error={error} retry={() => void refetch()} />
          ) : !data ? (
            <Loading />
          ) : !shown.length ? (
            <Empty
              icon="search"
              title={`No template matches “${url.search}”`}
              action={
                <button className="btn" onClick={() => change({ search: "" })}>
                  Show all
                </button>
              }
            />
          ) : (
            <ul className="gallery">
              {shown.map(({ id, document }) => (
                <li key={id} className="card panel" data-testid={`template-${id}`}>
                  <QueryPicture document={document} icons={icons} />
                  <h2>
                    <WriteButton disabled={create.isPending} title={busy} onClick={() => create.mutate(document)}>
                      {document.name}
                    </WriteButton>
                  </h2>
                  <p>{document.description}</p>
                  <footer>
                    {plural(document.query.operators.length, "operator")}, {plural(expandHosts(document).length, "host")},{" "}
                    {short(horizonOf(document))} s, <Link to={`/studies/new?template=${id}`}>study it</Link>
                  </footer>
                </li>
              ))}
            </ul>
          )}
        </div>
        <p className="mut small">
          Operators and their options are described in the <Link to="/help">help</Link>.
        </p>
      </div>
    </div>
  );
}

/** What a search looks through. */
const spoken = (document: ExperimentDocument) =>
  [
    document.name,
    document.description,
    ...document.query.operators.map(({ kind }) => kind),
    ...Object.values(document.workload.sources).map(({ stream }) => stream?.kind),
  ]
    .join(" ")
    .replace(/_/g, " ")
    .toLowerCase();
