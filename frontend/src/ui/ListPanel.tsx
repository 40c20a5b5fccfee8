import type { ReactNode } from "react";
import { Failure, Loading } from "./states";

/** The panel of a list: what went wrong, that it is loading, or what it holds. */
export function ListPanel({
  label,
  error,
  loading,
  retry,
  children,
  ...rest
}: {
  label: string;
  error: unknown;
  loading: boolean;
  retry: () => unknown;
  children: ReactNode;
  "data-testid"?: string;
  /** What is shown is of an earlier question; the answer is on its way. */
  stale?: boolean;
}) {
  const { stale = false, ...attributes } = rest;
  return (
    <section className="panel" aria-label={label} {...attributes}>
      <div className="scroll" aria-busy={stale} style={stale ? { opacity: 0.6 } : undefined} tabIndex={0}>
        {error ? <Failure error={error} retry={() => void retry()} /> : loading ? <Loading /> : children}
      </div>
    </section>
  );
}
