import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { post, remove } from "../../api/client";
import { takeLearningJob } from "../../api/news";
import { isActive, learningQuery } from "../../api/queries";
import type { Corpus, LearnedModels, LearningJob } from "../../api/types";
import { percent, plural, short, tookText, when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { balanceText, COSTS } from "../../model/learning/worth";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { Empty, StateBadge } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import { TopBar } from "../../ui/TopBar";
import { CorpusDialog } from "./CorpusDialog";
import { ImportDialog, type Imported } from "./ImportDialog";
import { TrainDialog } from "./TrainDialog";
import "./models.css";

const complain = (error: Error) => toast(error.message, { tone: "err" });

/** Corpora that the engine measures, and the models that learn from them what a placement costs. */
export function ModelsPage() {
  const { data, error, refetch } = useQuery(learningQuery);
  const [url, change] = useUrlState(["new", "of"]);
  const whole = (data?.corpora ?? []).filter(({ balance }) => balance);
  return (
    <div className="page on-models">
      <TopBar
        title="Models"
        crumb={<h1>Models</h1>}
        actions={
          <>
            <WriteButton className="btn" data-testid="new-corpus" onClick={() => change({ new: "corpus" })}>
              <Icon name="plus" />
              New corpus
            </WriteButton>
            <WriteButton
              className="btn primary"
              data-testid="train"
              disabled={!whole.length}
              title={whole.length ? "Models of all five costs" : "Have a corpus measured first"}
              onClick={() => change({ new: "models" })}
            >
              <Icon name="models" />
              Train models
            </WriteButton>
          </>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <span className="mut small">
            Models predict what a placement costs before anything runs. They learn from corpora: random queries on random hosts, measured by
            the engine.
          </span>
          <span className="grow" />
          <Link className="btn ghost" to="/figures?search=Heinrich">
            <Icon name="figures" />
            What they are worth, in figures
          </Link>
        </div>
        {data && data.jobs.length > 0 && <Jobs jobs={data.jobs} />}
        <Heading title="Models" kind="models" onImport={() => change({ new: "import-models" })} />
        <ListPanel label="Models" data-testid="models" error={error} loading={!data} retry={refetch}>
          {data?.models.length ? (
            <ModelTable models={data.models} />
          ) : (
            <Empty icon="models" title="No models yet">
              Have a corpus measured, then train models on it. Suggest placement on the canvas uses them.
            </Empty>
          )}
        </ListPanel>
        <Heading title="Corpora" kind="corpora" onImport={() => change({ new: "import-corpora" })} />
        <ListPanel label="Corpora" data-testid="corpora" error={error} loading={!data} retry={refetch}>
          {data?.corpora.length ? (
            <CorpusTable corpora={data.corpora} onTrain={(of) => change({ new: "models", of })} />
          ) : (
            <Empty
              icon="dataset"
              title="No corpus here yet"
              action={
                <WriteButton className="btn" onClick={() => change({ new: "corpus" })}>
                  <Icon name="plus" />
                  New corpus
                </WriteButton>
              }
            >
              The models that come with Millrace were trained elsewhere. A corpus of 4,000 traces takes about 20 minutes of one core.
            </Empty>
          )}
        </ListPanel>
      </div>
      {url.new === "corpus" && <CorpusDialog taken={data?.corpora ?? []} onClose={() => change({ new: "" })} />}
      {url.new === "import-models" && data && <ImportDialog kind="models" bytesMax={data.import_bytes_max} onClose={() => change({ new: "" })} />}
      {url.new === "import-corpora" && data && <ImportDialog kind="corpora" bytesMax={data.import_bytes_max} onClose={() => change({ new: "" })} />}
      {url.new === "models" && whole.length > 0 && (
        <TrainDialog corpora={whole} first={url.of} onClose={() => change({ new: "", of: "" })} />
      )}
    </div>
  );
}

function Heading({ title, kind, onImport }: { title: string; kind: Imported; onImport: () => void }) {
  return (
    <div className="heading">
      <h2>{title}</h2>
      <WriteButton className="btn ghost mini-text" data-testid={`import-${kind}`} onClick={onImport}>
        <Icon name="import" small />
        Import
      </WriteButton>
    </div>
  );
}

/** A ZIP with the files. */
function Export({ kind, name }: { kind: Imported; name: string }) {
  return (
    <a
      className="btn ghost icon"
      href={`/api/learning/${kind}/${encodeURIComponent(name)}/export`}
      download
      title="Export as a ZIP, for another installation"
      aria-label={`Export ${kind === "models" ? "models" : "corpus"} ${name}`}
    >
      <Icon name="export" />
    </a>
  );
}

function Jobs({ jobs }: { jobs: LearningJob[] }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: (job: LearningJob) => post<LearningJob>(`/api/learning/jobs/${job.id}/cancel`),
    onSuccess: (job) => takeLearningJob(client, job),
    onError: complain,
  });
  return (
    <section className="panel jobs" aria-label="Jobs" data-testid="jobs" tabIndex={0}>
      <table className="table">
        <TableHead columns={["Job", "State", "Doing", "Started", ofNumbers("Took")]} actions />
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id} data-testid={`job-${job.name}`}>
              <td>
                {job.kind === "corpus" ? "Corpus" : "Models"} <b>{job.name}</b>
              </td>
              <td>
                <StateBadge state={job.state} />
              </td>
              <td className={job.error ? "bad" : "mut"} title={job.error}>
                {job.error || (isActive(job) ? job.doing || (job.state === "queued" ? "Waiting for a worker" : "Starts") : job.doing)}
              </td>
              <td className="mut">{when(job.created_at)}</td>
              <td className="num">{tookText(job) ?? <span className="mut">–</span>}</td>
              <td className="num">
                {isActive(job) && (
                  <WriteButton
                    className="btn"
                    disabled={job.cancel_requested}
                    title={job.cancel_requested ? "It stops within a second" : "Stop; what is done is kept"}
                    aria-label={`Cancel ${job.name}`}
                    onClick={() => cancel.mutate(job)}
                  >
                    <Icon name="cross" />
                    {job.cancel_requested ? "Cancelling" : "Cancel"}
                  </WriteButton>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ModelTable({ models }: { models: LearnedModels[] }) {
  const drop = useDrop("models");
  const client = useQueryClient();
  const promote = useMutation({
    mutationFn: (name: string) => post(`/api/learning/models/${encodeURIComponent(name)}/promote`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["learning"] }),
    onError: complain,
  });
  return (
    <table className="table">
      <TableHead columns={["Name", "Learned from", ofNumbers("Members"), ofNumbers("Width"), ...COSTS.map(({ title }) => ofNumbers(title))]} actions />
      <tbody>
        {models.map((one) => (
          <tr key={one.name} data-testid={`models-${one.name}`}>
            <td>
              <Link to={`/models/${one.name}`}>
                <b>{one.name}</b>
              </Link>
              {one.promoted && (
                <span className="badge" title="Suggest placement asks these, unless others are chosen">
                  default
                </span>
              )}
              {one.shipped && <p>comes with Millrace</p>}
            </td>
            <td className="mut">{one.corpus ? `${one.corpus}, ${plural(one.traces, "trace")}` : "in training"}</td>
            <td className="num">{Math.max(0, ...Object.values(one.members))}</td>
            <td className="num">{one.hidden || <span className="mut">–</span>}</td>
            {COSTS.map(({ id, isClass }) => {
              const value = isClass ? one.accuracy[id] : one.q50[id];
              const about = isClass ? "Share of correct classes on the test" : "Median of how many times as large one is as the other, on the test";
              return (
                <td key={id} className="num" title={about}>
                  {value === undefined ? <span className="mut">–</span> : isClass ? percent(value) : `${short(value)} ×`}
                </td>
              );
            })}
            <td className="num">
              <span className="row-actions">
                <WriteButton
                  className="btn"
                  disabled={one.promoted}
                  title={one.promoted ? "Already the default" : "Suggest placement asks these from now on, unless others are chosen"}
                  aria-label={`Set as default: models ${one.name}`}
                  onClick={() => promote.mutate(one.name)}
                >
                  Set as default
                </WriteButton>
                <Export kind="models" name={one.name} />
                <WriteButton
                  className="btn ghost icon"
                  disabled={one.shipped}
                  title={one.shipped ? "Models that come with Millrace cannot be deleted" : "Delete with their files (can be undone)"}
                  aria-label={`Delete models ${one.name}`}
                  onClick={() => drop(one.name)}
                >
                  <Icon name="trash" />
                </WriteButton>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CorpusTable({ corpora, onTrain }: { corpora: Corpus[]; onTrain: (name: string) => void }) {
  const drop = useDrop("corpora");
  return (
    <table className="table">
      <TableHead columns={["Name", ofNumbers("Traces"), "Queries and hosts", ofNumbers("Seed"), "Labels"]} actions />
      <tbody>
        {corpora.map((one) => (
          <tr key={one.name} data-testid={`corpus-${one.name}`}>
            <td>
              <b>{one.name}</b>
            </td>
            <td className="num">{one.traces.toLocaleString("en-US")}</td>
            <td className="mut">{one.draw.replaceAll("_", " ")}</td>
            <td className="num">{one.seed}</td>
            <td className="mut">{balanceText(one)}</td>
            <td className="num">
              <span className="row-actions">
                <WriteButton
                  className="btn"
                  disabled={!one.balance}
                  title={one.balance ? "Train models on it" : "It is not whole; a new corpus of the same name, seed and size goes on with it"}
                  onClick={() => onTrain(one.name)}
                >
                  Train
                </WriteButton>
                <Export kind="corpora" name={one.name} />
                <WriteButton
                  className="btn ghost icon"
                  title="Delete with its files (can be undone); models trained on it stay"
                  aria-label={`Delete corpus ${one.name}`}
                  onClick={() => drop(one.name)}
                >
                  <Icon name="trash" />
                </WriteButton>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const UNDO_S = 10;

/** Deletes files, with a way back for a while. */
function useDrop(list: "models" | "corpora"): (name: string) => void {
  const client = useQueryClient();
  const send = async (request: Promise<unknown>) => {
    try {
      await request;
      return true;
    } catch (problem) {
      complain(problem instanceof Error ? problem : new Error(String(problem)));
      return false;
    } finally {
      await client.invalidateQueries({ queryKey: ["learning"] });
    }
  };
  return (name) => {
    const path = `/api/learning/${list}/${encodeURIComponent(name)}`;
    const said = `${list === "models" ? "Models" : "Corpus"} “${name}” deleted.`;
    const undo = { label: "Undo", run: () => void send(post(`${path}/restore`)) };
    void send(remove(path)).then((done) => done && toast(said, { action: undo, seconds: UNDO_S }));
  };
}
