/** Operators take the series colours in document order; the order inside a host's slots is the same, as the second cue. */
export const OPERATOR_COLOURS = 6;
export const colourOf = (index: number) => `var(--s${(index % OPERATOR_COLOURS) + 1})`;
