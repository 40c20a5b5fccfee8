import { useRef, useState } from "react";
import type { Frame } from "../api/types";
import type { Column } from "../model/series";
import type { Line } from "./Chart";

const ROW_PX = 24;

/** The numbers behind a chart, one row per frame; only the rows in view are drawn. */
export function FrameTable({
  frames,
  t_s,
  columns,
  lines,
  format,
}: {
  frames: Frame[];
  t_s: number[];
  columns: Column[];
  lines: Line[];
  format: (value: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / ROW_PX) - 4);
  const shown = frames.slice(first, first + 40);
  return (
    <div className="frames scroll" ref={box} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table className="table">
        <thead>
          <tr>
            <th className="num">Frame</th>
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
          {shown.map((frame, offset) => {
            const at = first + offset;
            return (
              <tr key={frame.n}>
                <td className="num mut">{frame.n}</td>
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
          {first + 40 < frames.length && (
            <tr style={{ height: (frames.length - first - 40) * ROW_PX }}>
              <td colSpan={lines.length + 2} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
