import type { Values } from "../../model/run/stores";

const [WIDTH, HEIGHT] = [480, 36];

interface Props extends Values {
  title: string;
  unit: (value: number) => string;
}

/** A field of frames over time, as bars. */
export function ValueStrip({ title, unit, from_s, to_s, values, most }: Props) {
  const step = WIDTH / Math.max(1, values.length);
  const height = (value: number) => (most > 0 ? (HEIGHT * value) / most : 0);
  return (
    <figure>
      <figcaption>
        {title}, {from_s.toFixed(0)} to {to_s.toFixed(0)} s, at most {unit(most)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: at most ${unit(most)}`}>
        {values.map((value, k) => (
          <rect key={k} x={k * step} y={HEIGHT - height(value)} width={Math.max(step, 0.5)} height={height(value)} />
        ))}
      </svg>
    </figure>
  );
}
