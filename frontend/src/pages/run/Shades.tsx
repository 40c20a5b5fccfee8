import { Fragment } from "react";
import type { FaultMark } from "../../model/document/faults";
import { placesIn } from "../../model/run/place";
import type { Band } from "../../model/run/scaling";
import type { Span } from "../../model/run/series";

/** What lies behind the lines of all charts: warm-up, faults, rescales, what has not come yet, and the stretch that is being chosen. */
export function Shades({
  span,
  warmup_s,
  head_s,
  faults,
  bands,
  drag,
}: {
  span: Span;
  warmup_s: number;
  head_s: number;
  faults: FaultMark[];
  bands: Band[];
  drag: Span | null;
}) {
  const { share, wide } = placesIn(span);
  return (
    <>
      {warmup_s > span.from_s && <i className="warm" style={{ width: share(warmup_s) }} />}
      {faults.map((fault, at) => (
        <i key={at} className="fault" style={{ left: share(fault.start_s), width: wide(fault.start_s, fault.end_s) }} />
      ))}
      {bands.map(({ action: { number, outcome }, from_s, to_s, down }) => (
        <Fragment key={number}>
          <i className={`band ${outcome}`} data-testid={`band-${number}`} style={{ left: share(from_s), width: wide(from_s, to_s ?? head_s) }} />
          {down && <i className="down-band" style={{ left: share(down.from_s), width: wide(down.from_s, down.to_s ?? head_s) }} />}
        </Fragment>
      ))}
      {head_s < span.to_s - 1e-6 && <i className="future" style={{ left: share(head_s) }} />}
      {drag && <i className="drag" style={{ left: share(drag.from_s), width: wide(drag.from_s, drag.to_s) }} />}
    </>
  );
}
