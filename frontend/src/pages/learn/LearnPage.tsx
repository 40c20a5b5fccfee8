import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { lessonQuery, lessonsQuery } from "../../api/queries";
import type { Lesson, LessonItem } from "../../api/types";
import { useUrlState } from "../../lib/useUrlState";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { StepThrough } from "./StepThrough";
import "./learn.css";

/** Small histories of messages and checkpoints, step by step. The case and the step stand in the address. */
export function LearnPage() {
  const { lesson: id = "" } = useParams();
  const { data: lessons, error, refetch } = useQuery(lessonsQuery);
  const lesson = useQuery(lessonQuery(id));
  return (
    <div className="page on-learn">
      <TopBar title={lesson.data?.title ?? "Lessons"} crumb={<h1>Lessons</h1>} />
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !lessons ? (
        <Loading />
      ) : (
        <div className="learn">
          <nav className="panel" aria-label="Lessons">
            <div className="scroll" data-testid="lessons">
              {groupsOf(lessons).map(([group, of]) => (
                <section key={group} aria-label={group}>
                  <div className="ph">
                    <h2>{group}</h2>
                  </div>
                  <ul>
                    {of.map((one) => (
                      <li key={one.id}>
                        <Link to={`/learn/${one.id}`} aria-current={one.id === id ? "page" : undefined}>
                          <small>{one.figure}</small>
                          <span>{one.title}</span>
                        </Link>
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </div>
          </nav>
          {!id ? (
            <Overview lessons={lessons} />
          ) : lesson.error ? (
            <section className="panel">
              <Failure error={lesson.error} retry={() => void lesson.refetch()} />
            </section>
          ) : lesson.data ? (
            <LessonView key={id} lesson={lesson.data} />
          ) : (
            <section className="panel">
              <Loading />
            </section>
          )}
        </div>
      )}
    </div>
  );
}

/** Lessons by their subject, in the order in which subjects come. */
function groupsOf(lessons: LessonItem[]): [group: string, lessons: LessonItem[]][] {
  const found = new Map<string, LessonItem[]>();
  for (const one of lessons) found.set(one.group, [...(found.get(one.group) ?? []), one]);
  return [...found];
}

function Overview({ lessons }: { lessons: LessonItem[] }) {
  if (!lessons.length)
    return (
      <section className="panel">
        <Empty icon="learn" title="No lessons in this installation">
          Lessons are documents in fixtures/lessons: messages and checkpoints, or queries under a policy, and what to show of them.
        </Empty>
      </section>
    );
  return (
    <article className="panel scroll overview" tabIndex={0} aria-label="Lessons">
      <h2>Step by step</h2>
      <p>
        After a loss, to which checkpoints can the instances roll back? Which query should run first? Each lesson is a small example,
        explained step by step by the rules of the engine itself. Step forward with <kbd>→</kbd>, back with <kbd>←</kbd>.
      </p>
      {groupsOf(lessons).map(([group, of]) => (
        <section key={group}>
          <h3>{group}</h3>
          <ul>
            {of.map(({ id, title, figure, text }) => (
              <li key={id}>
                <Link to={`/learn/${id}`}>
                  <b>{title}</b>
                </Link>
                {figure && <small className="mut">after Figure {figure}</small>}
                <p>{text}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className="mut">
        Runs with uncoordinated or communication-induced checkpoints explain each recovery in the same way: open the
        tab <b>Checkpoints</b> of the run and press{" "}
        <b>How the line was found</b>.
      </p>
    </article>
  );
}

function LessonView({ lesson }: { lesson: Lesson }) {
  const [url, change] = useUrlState(["case", "step"]);
  const chosen = Math.max(0, Math.min(lesson.cases.length - 1, Number(url.case || 1) - 1 || 0));
  const told = lesson.cases[chosen];
  if (!told) return null;
  return (
    <article className="lesson" aria-label={lesson.title}>
      <header className="panel">
        <h2>{lesson.title}</h2>
        <p>{lesson.text}</p>
        <small className="mut">
          <Icon name="book" small /> {lesson.source}
        </small>
        {lesson.cases.length > 1 && (
          <div className="cases">
            <div className="seg" role="radiogroup" aria-label="Case">
              {lesson.cases.map(({ name }, n) => (
                <label key={name}>
                  <input type="radio" name="case" checked={n === chosen} onChange={() => change({ case: n ? String(n + 1) : "", step: "" })} />
                  {name}
                </label>
              ))}
            </div>
            <span className="mut">{told.text}</span>
          </div>
        )}
      </header>
      <StepThrough
        key={chosen}
        told={told}
        begin={Number(url.step || 1) - 1 || 0}
        onStep={(number) => change({ step: number ? String(number + 1) : "" }, true)}
      />
    </article>
  );
}
