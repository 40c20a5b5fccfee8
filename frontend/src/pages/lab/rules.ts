/** Retention rules in words. */
import { bytes, plural } from "../../lib/format";
import type { Rule, RuleBody } from "./queries";

export const THINGS: Record<Rule["what"], { one: string; many: string }> = {
  frames: { one: "run's frames", many: "runs' frames" },
  runs: { one: "run", many: "runs" },
  datasets: { one: "data set", many: "data sets" },
};

const SUBJECTS: Record<Rule["what"], string> = { frames: "Frames of runs", runs: "Runs", datasets: "Data sets that no experiment uses" };

/** What a rule does, in one sentence. */
export function sentence({ what, days, bytes: most, kept_tags }: RuleBody): string {
  const which = days === null ? `, oldest first, while all take more than ${bytes(most ?? 0)}` : ` older than ${plural(days, "day")}`;
  const but =
    what === "datasets"
      ? ""
      : kept_tags === null
        ? ", except runs with a tag or note"
        : kept_tags.length
          ? `, except runs with a note or the tag ${kept_tags.join(" or ")}`
          : ", except runs with a note";
  return `${SUBJECTS[what]}${which}${but}.`;
}

/** A rule from the fields of a form, or what is wrong with them. */
export function ruleOf(what: Rule["what"], by: "days" | "bytes", amount: string, tags: string): RuleBody | string {
  const number = amount.trim() ? Number(amount) : NaN;
  if (by === "days" && !(Number.isInteger(number) && number >= 1 && number <= 36_500)) return "Days must be a whole number from 1 to 36,500.";
  if (by === "bytes" && !(number >= 0 && number <= 1e9)) return "The size must be a number of GB.";
  const named = tags.split(",").map((tag) => tag.trim());
  return {
    what,
    days: by === "days" ? number : null,
    bytes: by === "bytes" ? Math.round(number * 1e9) : null,
    kept_tags: what === "datasets" || !tags.trim() ? null : named.filter(Boolean),
  };
}
