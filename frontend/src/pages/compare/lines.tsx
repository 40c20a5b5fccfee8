import type { Line } from "../../model/run/charts";

/** By place in the comparison: a colour with its own dash each, in the fixed order of series. */
export const LINES: Omit<Line, "label">[] = [
  { token: "--s1", width: 2 },
  { token: "--s2", width: 2, dash: [8, 4] },
  { token: "--s3", width: 2, dash: [8, 3, 2, 3] },
  { token: "--s4", width: 2, dash: [2, 3] },
];

export function LineSample({ line }: { line: Omit<Line, "label"> | undefined }) {
  if (!line) return null;
  return (
    <svg width="22" height="8" aria-hidden="true">
      <path
        d="M0 4H22"
        style={{ stroke: `var(${line.token})`, strokeWidth: line.width, strokeDasharray: line.dash?.join(" "), fill: "none" }}
      />
    </svg>
  );
}
