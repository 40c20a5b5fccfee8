import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { Advice, AdviceModels, AdviceQuestion } from "../../../api/types";
import { ApiError } from "../../../api/client";
import type { ExperimentDocument } from "../../../api/document";
import { adviceQuery, adviceStateQuery } from "../../../api/queries";
import { plural } from "../../../lib/format";
import { useSettled } from "../../../lib/useSettled";
import { isStale, modelsOf, outsideTexts, questionOf, reasonTexts, relaxedText } from "../../../model/document/advice";
import { named, sentenceOf } from "../../../model/document/naming";
import { targetOf } from "../../../model/document/validate";
import { Icon } from "../../../ui/Icon";
import { Empty, Loading } from "../../../ui/states";
import { goTo, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { AdviceTable } from "./AdviceTable";
import { askNow, closeAdvice, useAsking } from "./asking";
import { SettingsForm } from "./SettingsForm";

const NO_MODELS: AdviceModels[] = [];

/** Where the operators should stand, by the predictions of trained models: what is asked, and the ranked candidates. */
export function AdvicePanel() {
  const { settings, asked } = useAsking();
  const { data: state } = useQuery(adviceStateQuery);
  // While the models are away, what they said stays.
  const known = useRef(NO_MODELS);
  if (state?.models.length) known.current = state.models;
  const models = known.current;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus();
    return () => useEditor.setState({ preview: null });
  }, []);
  const document = asked?.document;
  const question = useMemo(() => document && questionOf(settings, models, document), [settings, models, document]);
  return (
    <aside className="insp advice" aria-label="Suggest placement" ref={panel} tabIndex={-1} data-testid="advice">
      <header>
        <h2>Suggest placement</h2>
        <button className="btn ghost icon" aria-label="Close the suggestions" title="Close the suggestions (S)" onClick={closeAdvice}>
          <Icon name="cross" />
        </button>
      </header>
      <div className="scroll">
        {question && <SettingsForm settings={settings} question={question} models={models} />}
        {asked && question && <Answer document={asked.document} number={asked.number} question={question} models={models} />}
      </div>
    </aside>
  );
}

/** Until there is an answer to another question, the one before stays, in grey. */
function Answer({
  document,
  number,
  question,
  models,
}: {
  document: ExperimentDocument;
  number: number;
  question: AdviceQuestion;
  models: AdviceModels[];
}) {
  const settled = useSettled(question);
  const { data, error, isPlaceholderData, isFetching, refetch } = useQuery(adviceQuery(number, document, settled));
  if (error && !isFetching) return <NoAdvice error={error} document={document} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  const isWaiting = isPlaceholderData || settled !== question;
  return <Suggestions advice={data} document={document} models={models} isWaiting={isWaiting} />;
}

/** Why there are no suggestions, with a way to each reason. */
function NoAdvice({ error, document, retry }: { error: Error; document: ExperimentDocument; retry: () => void }) {
  const { schema, kinds } = useRegistry();
  const problems = error instanceof ApiError ? error.problems : [];
  const isOfDocument = error instanceof ApiError && error.status === 422;
  if (!problems.length)
    return (
      <Empty
        icon="warn"
        title={isOfDocument ? "Nothing to suggest" : "No suggestions"}
        action={
          <button className="btn" onClick={isOfDocument ? askNow : retry}>
            <Icon name="rerun" />
            {isOfDocument ? "Suggest again" : "Try again"}
          </button>
        }
      >
        {error.message}
      </Empty>
    );
  return (
    <div className="reasons" role="alert" data-testid="advice-reasons">
      <p>
        <b>The models cannot predict this experiment as it is drawn.</b>
      </p>
      <ul>
        {problems.map((problem) => (
          <li key={problem.pointer + problem.message}>
            <Icon name="crossc" />
            {targetOf(problem.pointer, document).part !== "document" ? (
              <button className="link" title="Select it" onClick={() => goTo(problem.pointer)}>
                {sentenceOf(named(problem, document, schema, kinds))}
              </button>
            ) : (
              <span>{problem.message}</span>
            )}
          </li>
        ))}
      </ul>
      <button className="btn" onClick={askNow}>
        <Icon name="rerun" />
        Suggest again
      </button>
    </div>
  );
}

function Suggestions({
  advice,
  document,
  models,
  isWaiting,
}: {
  advice: Advice;
  document: ExperimentDocument;
  models: AdviceModels[];
  isWaiting: boolean;
}) {
  const now = useEditor((state) => state.document);
  const placement = useEditor((state) => state.placement);
  const stale = useMemo(() => isStale(document, now, placement, advice.candidates), [document, now, placement, advice]);
  const by = modelsOf(models, advice.models);
  return (
    <div className="suggestions" aria-busy={isWaiting}>
      {stale && !isWaiting && (
        <div className="bar-note" role="status" data-testid="advice-stale">
          <Icon name="warn" />
          <span>The experiment has changed since this advice.</span>
          <span className="grow" />
          <button className="btn" onClick={askNow}>
            Suggest again
          </button>
        </div>
      )}
      <p className="about mut small" data-testid="advice-about">
        {by ? `Predicted by models trained on ${by.corpus}: ${plural(by.traces, "trace")} of a modelled cluster.` : "Predicted by trained models."}{" "}
        Nothing was run.
      </p>
      <Notes cautions={[...advice.cautions, ...advice.relaxed.map(relaxedText)]} outside={outsideTexts(advice.outside)} />
      <div className="ph">
        <h3>{advice.order.length ? `${plural(advice.order.length, "candidate")}, best first` : "No candidates"}</h3>
        <span className="grow" />
        <span className="mut" role="status">
          {isWaiting ? "Suggesting" : ""}
        </span>
        <button className="btn" data-testid="suggest-again" onClick={askNow}>
          <Icon name="rerun" />
          Suggest
        </button>
      </div>
      {advice.order.length ? (
        <>
          <AdviceTable key={advice.models + advice.goal + advice.order.join()} asked={document} advice={advice} isWaiting={isWaiting} />
          <Reasons texts={reasonTexts(advice)} />
        </>
      ) : (
        <p className="none">No placement obeys the pins, the forbidden hosts and the rules. Pin fewer operators, or allow more hosts.</p>
      )}
    </div>
  );
}

/** Why the first one is suggested: what the models predict if one thing were different. */
function Reasons({ texts }: { texts: string[] }) {
  if (!texts.length) return null;
  return (
    <section className="what-if" aria-label="What if" data-testid="advice-reasons-why">
      <h3>What would change the best prediction</h3>
      <ul>
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

/** More notes are folded. */
const NOTES_SHOWN_MAX = 3;

/** Why predictions may be off. */
function Notes({ cautions, outside }: { cautions: string[]; outside: string[] }) {
  if (!cautions.length && !outside.length) return null;
  const lines = outside.map((text) => <li key={text}>{text}</li>);
  return (
    <div className="notes" data-testid="advice-notes">
      {cautions.map((text) => (
        <p key={text} className="remark warn">
          <Icon name="warn" small />
          <span>{text}</span>
        </p>
      ))}
      {outside.length > 0 && (
        <details open={cautions.length + outside.length <= NOTES_SHOWN_MAX}>
          <summary className="remark warn">
            <Icon name="warn" small />
            <span>
              {plural(outside.length, "value")} outside the training range: predictions may be off
            </span>
          </summary>
          <ul>{lines}</ul>
        </details>
      )}
    </div>
  );
}
