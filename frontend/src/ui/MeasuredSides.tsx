/** What was compared in an assertion: each measured value over the words that it stands for. */
export function MeasuredSides<Side extends { text: string }>({
  sides,
  valueOf,
}: {
  sides: readonly Side[];
  valueOf: (side: Side) => string;
}) {
  return (
    <td className="sides">
      {sides.map((side, at) => (
        <span key={at} title={side.text}>
          {valueOf(side)}
          <small>{side.text}</small>
        </span>
      ))}
      {!sides.length && "–"}
    </td>
  );
}
