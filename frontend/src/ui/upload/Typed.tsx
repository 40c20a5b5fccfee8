import { type InputHTMLAttributes, useState } from "react";

/** A text that is taken when the field is left, or on Enter: each letter would ask the server. */
export function Typed({
  value,
  onTake,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { value: string; onTake: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const take = () => {
    if (typed !== null && typed !== value) onTake(typed);
    setTyped(null);
  };
  return (
    <input
      {...rest}
      spellCheck={false}
      value={typed ?? value}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // the file is not to be uploaded yet
        take();
      }}
    />
  );
}
