import type { Colouring } from "../../model/run/points";
import { SeriesSample } from "../../ui/chart/Plot";

/** Which colour is which, with the number of runs; nothing for a single one, and for a scale, which has its own. */
export function Legend({ colouring, markers = false }: { colouring: Colouring; markers?: boolean }) {
  if (colouring.classes.length < 2) return null;
  return (
    <ul className="legend" aria-label="Colours">
      {colouring.classes.map(({ label, count }, at) => (
        <li key={label}>
          <SeriesSample at={at} markersOnly={markers} />
          <span className="ell">{label}</span> <span className="mut">{count.toLocaleString("en-US")}</span>
        </li>
      ))}
    </ul>
  );
}
