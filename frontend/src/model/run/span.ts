/** A stretch of virtual time, as charts show it. */
export interface Span {
  from_s: number;
  to_s: number;
}
