import { Icon } from "../../ui/Icon";

/** When something runs out, in days from now; "" is never. */
export function LifetimeField({
  id,
  choices,
  days,
  onChange,
}: {
  id: string;
  choices: readonly (readonly [days: string, words: string])[];
  days: string;
  onChange: (days: string) => void;
}) {
  return (
    <div className="field">
      <label htmlFor={id}>Expires</label>
      <div className="in">
        <select id={id} value={days} onChange={(event) => onChange(event.target.value)}>
          {choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </div>
  );
}
