import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { experimentsQuery, registryQuery, schemaQuery, studySchemaQuery } from "../../api/queries";
import { when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import type { StudyDocument } from "../../model/study/study";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { Crumb } from "./Crumb";
import { ImportStudy } from "./ImportStudy";
import { ORIGINS, originIn, originQuery, studyDraftOf } from "./origin";
import { StudyEditor } from "./StudyEditor";
import "./studies.css";

/** A new study: of the experiment, run or template that the address names, or like another study. */
export function NewStudyPage() {
  const [url] = useUrlState(ORIGINS);
  const client = useQueryClient();
  const named = originIn(url);
  const key = named ? `${named.kind} ${named.id}` : "file";
  const origin = useQuery(originQuery(client, named));
  const schema = useQuery(studySchemaQuery);
  const experimentSchema = useQuery(schemaQuery);
  const registry = useQuery(registryQuery);
  const [imported, setImported] = useState<StudyDocument | null>(() => {
    const draft = named ? null : studyDraftOf(null);
    return draft?.experiment === undefined ? null : (draft as StudyDocument);
  });
  const needed = [schema, experimentSchema, registry, ...(named ? [origin] : [])];
  const failed = needed.find(({ error }) => error);
  const operators = useMemo(() => new Map((registry.data?.operators ?? []).map((kind) => [kind.kind, kind])), [registry.data]);
  const begun = named ? origin.data : imported && { study: imported, experiment: null };
  if (!named && !imported) return <Choose onImport={setImported} />;
  if (failed || !schema.data || !experimentSchema.data || !registry.data || !begun)
    return (
      <div className="page on-studies">
        <TopBar title="New study" crumb={<Crumb />} />
        {failed ? <Failure error={failed.error} retry={() => needed.forEach((query) => void query.refetch())} /> : <Loading />}
      </div>
    );
  return (
    <StudyEditor
      key={key}
      named={named}
      origin={begun}
      schema={schema.data}
      experimentSchema={experimentSchema.data}
      operators={operators}
      engines={registry.data.engines ?? []}
      onLeaveFile={() => setImported(null)}
    />
  );
}

/** Of which experiment? */
function Choose({ onImport }: { onImport: (study: StudyDocument) => void }) {
  const { data, error, refetch } = useQuery(experimentsQuery);
  const [url, change] = useUrlState(["search"]);
  const word = url.search.trim().toLowerCase();
  const rows = (data ?? []).filter((row) => !word || `${row.name} ${row.description}`.toLowerCase().includes(word));
  return (
    <div className="page on-studies">
      <TopBar title="New study" crumb={<Crumb />} actions={<ImportStudy onImport={onImport} />} />
      <div className="list-page">
        <div className="toolbar">
          <SearchField
            label="Search experiments"
            hint="Search by name or description"
            value={url.search}
            onChange={(search) => change({ search }, true)}
          />
          <span className="mut small">Choose the experiment to study. The study keeps a copy of it.</span>
          <span className="grow" />
          <Count of={data && rows.length} one="experiment" />
        </div>
        <ListPanel label="Experiments" error={error} loading={!data} retry={refetch}>
          {rows.length ? (
            <table className="table experiments">
              <TableHead columns={["Name", ofNumbers("Runs"), "Changed"]} />
              <tbody>
                {rows.map((row) => (
                  <tr key={row.id}>
                    <td>
                      <Link to={`/studies/new?experiment=${row.id}`}>
                        <b>{row.name || "Untitled"}</b>
                      </Link>
                      {row.description && <p title={row.description}>{row.description}</p>}
                    </td>
                    <td className="num">{row.runs}</td>
                    <td className="mut">{when(row.updated_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <Empty
              icon="canvas"
              title={word ? `No experiment matches “${url.search}”` : "No experiment yet"}
              action={
                <Link className="btn primary" to="/templates">
                  <Icon name="gallery" />
                  Open a template
                </Link>
              }
            >
              A template opens as an experiment of your own, ready to run and to study.
            </Empty>
          )}
        </ListPanel>
      </div>
    </div>
  );
}
