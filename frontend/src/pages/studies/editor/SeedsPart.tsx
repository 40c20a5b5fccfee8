import { isFirst, upTo } from "../../../model/study/draft";
import { seedsOf } from "../../../model/study/study";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import type { PartProps } from "./part";

const SEED_COUNTS = [1, 3, 5, 10];

/** With which seeds each point is run. */
export function SeedsPart({ study, schema, problems, change }: PartProps) {
  return (
    <section className="panel editor-part" aria-label="Seeds">
      <header className="part-head">
        <h2>Seeds</h2>
        <span className="mut small">Several seeds show how much is chance: metrics get an interval.</span>
        <span className="grow" />
        <div className="seg" role="radiogroup" aria-label="How many seeds">
          {SEED_COUNTS.map((count) => (
            <label key={count}>
              <input
                type="radio"
                name="seeds"
                checked={isFirst(seedsOf(study), count)}
                onChange={() => change({ seeds: Array.from({ length: count }, (_, at) => at + 1) })}
              />
              {count}
            </label>
          ))}
        </div>
      </header>
      <SchemaForm
        schema={schema.document}
        value={{ seeds: seedsOf(study) }}
        pointer=""
        problems={problems.map(upTo("/seeds"))}
        only={["seeds"]}
        idPrefix="study-seeds"
        onChange={(write) => change({ seeds: (write({}).seeds as number[] | undefined) ?? [] })}
      />
    </section>
  );
}
