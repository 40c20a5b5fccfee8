import type { Line } from "../../model/run/charts";

/** Which line is which, and its value at the moment shown. hidden: those of which there is nothing to be seen. */
export function Legend({
  lines,
  values,
  format,
  hidden,
}: {
  lines: Line[];
  values: (number | null)[];
  format: (value: number) => string;
  hidden?: boolean[];
}) {
  return (
    <div className={`lg ${lines.length > 4 ? "many" : ""}`}>
      {lines.map((line, at) => {
        if (hidden?.[at]) return null;
        const value = values[at];
        const text = value === null || value === undefined ? "–" : format(value);
        return (
          <span key={line.label} title={`${line.label} ${text}`}>
            {line.pattern ? (
              <i className={`swatch pat ${line.pattern}`} style={{ "--of": `var(${line.token})` } as React.CSSProperties} />
            ) : (
              <svg width="20" height="8" aria-hidden="true">
                <path
                  d="M0 4H20"
                  style={{ stroke: `var(${line.token})`, strokeWidth: line.width, strokeDasharray: line.dash?.join(" "), fill: "none" }}
                />
              </svg>
            )}
            <span className="ell">{line.label}</span>
            <b>{text}</b>
          </span>
        );
      })}
    </div>
  );
}
