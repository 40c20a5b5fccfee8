import { plural } from "../lib/format";

/** How many rows a list has, at the end of its toolbar; nothing before that is known. Screen readers are told when it changes. */
export function Count({ of, one, many }: { of: number | undefined; one: string; many?: string }) {
  return (
    <span className="mut small" role="status">
      {of === undefined ? "" : plural(of, one, many)}
    </span>
  );
}
