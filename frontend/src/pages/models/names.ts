/** As the API takes names of corpora and models. */
export const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** A name that is free: "corpus-1". */
export function freeName(word: string, taken: readonly { name: string }[]): string {
  const names = new Set(taken.map(({ name }) => name));
  let number = 1;
  while (names.has(`${word}-${number}`)) number += 1;
  return `${word}-${number}`;
}
