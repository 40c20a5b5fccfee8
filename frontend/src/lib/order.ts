/** The order of a table: the name of a column, with a minus before it for down. */

/** The order after a click on a column's head: down, then up, then the usual one again. */
export function nextOrder(order: string, column: string, usual: string): string {
  const next = order === `-${column}` ? column : order === column ? usual : `-${column}`;
  return next === order ? `-${column}` : next;
}

export const ariaSort = (order: string, column: string) =>
  order === column ? "ascending" : order === `-${column}` ? "descending" : "none";
