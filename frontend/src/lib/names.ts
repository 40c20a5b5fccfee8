/** The wished name, or, where it is taken, the first free one of "name (2)", "name (3)", ... */
export function freeOf(wished: string, taken: readonly (string | undefined)[]): string {
  if (!taken.includes(wished)) return wished;
  const plain = wished.replace(/ \(\d+\)$/, "");
  let number = 2;
  while (taken.includes(`${plain} (${number})`)) number += 1;
  return `${plain} (${number})`;
}
