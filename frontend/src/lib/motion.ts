/** How long moves that no style sheet makes take, ms: as --t-move does, nothing for who wants no motion. */
const MOVE_MS = 200;

export const moveMs = () => (window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : MOVE_MS);
