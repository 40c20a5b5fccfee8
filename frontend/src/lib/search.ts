/** Searching by words: every word must occur, in any order; what begins with the search comes first. */

/** The things whose text holds every word of the search, best first; all of them, in their order, for an empty search. */
export function found<Thing>(things: readonly Thing[], search: string, textOf: (thing: Thing) => string): Thing[] {
  const wanted = search.trim().toLowerCase();
  if (!wanted) return [...things];
  const words = wanted.split(/\s+/);
  const ranked = things.flatMap((thing) => {
    const text = textOf(thing).toLowerCase();
    return words.every((word) => text.includes(word)) ? [{ thing, rank: rankOf(text, wanted) }] : [];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map((one) => one.thing);
}

const rankOf = (text: string, wanted: string) => (text.startsWith(wanted) ? 0 : ` ${text}`.includes(` ${wanted}`) ? 1 : 2);
