import { cellText } from "../../model/run/runFields";
import type { Colouring } from "../../model/run/points";
import { SeriesSample } from "../../ui/chart/Plot";

/** Which colour is which, with the number of runs; nothing for a single one. lines: the picture draws lines, and has no colour bar. */
export function Legend({ colouring: { along, classes }, lines = false }: { colouring: Colouring; lines?: boolean }) {
  if (along?.extent && lines) {
    const [low, high] = along.extent.map((end) => cellText(end, along.field.unit));
    return (
      <ul className="legend" aria-label={`Colours by ${along.title}`}>
        <li>
          {along.title} {low} <i className="scale" aria-hidden="true" /> {high}
        </li>
        {along.cells.includes(null) && (
          <li>
            <i className="scale unset" aria-hidden="true" /> {cellText(null)}
          </li>
        )}
      </ul>
    );
  }
  if (classes.length < 2) return null;
  return (
    <ul className="legend" aria-label="Colours">
      {classes.map(({ label, count }, at) => (
        <li key={label}>
          <SeriesSample at={at} markersOnly={!lines} />
          <span className="ell">{label}</span> <span className="mut">{count.toLocaleString("en-US")}</span>
        </li>
      ))}
    </ul>
  );
}
