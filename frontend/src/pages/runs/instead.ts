import type { ReactNode } from "react";

/** What groups and pictures show in place of runs. */
export interface Instead {
  /** No run is found. */
  none: ReactNode;
  refused: (error: Error, retry: () => unknown) => ReactNode;
}
