/** Brings an element into view within the list that scrolls it. Unlike `scrollIntoView`, the page around the list stays where it is. */
export function scrollInList(element: Element | null | undefined): void {
  const list = element?.closest(".scroll");
  if (!element || !list) return;
  const [inner, outer] = [element.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}
