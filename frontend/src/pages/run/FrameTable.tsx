import { useRef, useState } from "react";
import type { Line } from "../../model/run/charts";
import type { Column } from "../../model/run/series";

const ROW_PX = 24;

/** The numbers behind a chart, one row per frame; only the rows in view are drawn. */
export function FrameTable({
  count,
  t_s,
  columns,
  lines,
  format,
  rows = "Frame",
}: {
  count: number;
  t_s: number[];
  columns: Column[];
  lines: Line[];
  format: (value: number) => string;
  /** What a row is. */
  rows?: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / ROW_PX) - 4);
  const shown = Array.from({ length: Math.max(0, Math.min(40, count - first)) }, (_, offset) => first + offset);
  return (
    <div className="frames scroll" ref={box} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table className="table">
        <thead>
          <tr>
            <th className="num">{rows}</th>
            <th className="num">Time, s</th>
            {lines.map((line) => (
              <th key={line.label} className="num">
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && (
            <tr style={{ height: first * ROW_PX }}>
              <td colSpan={lines.length + 2} />
            </tr>
          )}
          {shown.map((at) => {
            return (
              <tr key={at}>
                <td className="num mut">{at}</td>
                <td className="num">{t_s[at]?.toFixed(2)}</td>
                {columns.map((column, index) => {
                  const value = column[at];
                  return (
                    <td key={lines[index]?.label} className="num">
                      {value === null || value === undefined ? "–" : format(value)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
          {first + 40 < count && (
            <tr style={{ height: (count - first - 40) * ROW_PX }}>
              <td colSpan={lines.length + 2} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
