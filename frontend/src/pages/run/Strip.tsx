import type { ReactNode } from "react";
import { GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";

export const STRIP_WIDTH = 1000;

/** A strip under the charts, along their time axis: a line of words, and below it bars (`rect`) of up to STRIP_WIDTH x `height`. */
export function Strip(props: { id: string; words: string; means: string; height: number; children: ReactNode }) {
  const { id, words, means, height, children } = props;
  return (
    <div className={`time-strip ${id}`} data-testid={id}>
      <span className="mut" title={means}>
        {words}
      </span>
      <svg
        viewBox={`0 0 ${STRIP_WIDTH} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
        style={{ height, marginLeft: GUTTER_LEFT, width: `calc(100% - ${GUTTER_LEFT + GUTTER_RIGHT}px)` }}
      >
        {children}
      </svg>
    </div>
  );
}
