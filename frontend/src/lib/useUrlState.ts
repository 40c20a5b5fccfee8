import { useCallback } from "react";
import { useSearchParams } from "react-router";

/** The query as it is now. What a render knows may be older: changes of the address are rendered when there is time. */
export const queryNow = () => new URLSearchParams(window.location.search);

/** The address's query as state: what is empty is left out. "Back" undoes a change, except one that replaced the last (typing, say). */
export function useUrlState<Name extends string>(
  names: readonly Name[],
): [Record<Name, string>, (changes: Partial<Record<Name, string>>, replace?: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const state = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ""])) as Record<Name, string>;
  const change = useCallback(
    (changes: Partial<Record<Name, string>>, replace = false) =>
      setParams(
        () => {
          const next = queryNow();
          for (const [name, value] of Object.entries(changes) as [Name, string | undefined][])
            if (value) next.set(name, value);
            else next.delete(name);
          return next;
        },
        { replace },
      ),
    [setParams],
  );
  return [state, change];
}
