/** Roving focus: a list of buttons, and of headings that fold, is one stop of the Tab key, and the arrow keys move within. */
import { useLayoutEffect, useRef, type FocusEvent, type KeyboardEvent, type RefObject } from "react";

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at, count) => Math.min(at + 1, count - 1),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, count) => count - 1,
};

export function useRoving(list: RefObject<HTMLElement | null>) {
  const stop = useRef<HTMLElement | null>(null);
  const items = () =>
    [...(list.current?.querySelectorAll<HTMLElement>("summary, button:not([disabled])") ?? [])].filter((one) => one.checkVisibility());
  const stopAt = (item: HTMLElement | undefined) => {
    stop.current = item ?? null;
    for (const one of items()) one.tabIndex = one === item ? 0 : -1;
  };
  // After every drawing: items may have come, gone, or been enabled.
  useLayoutEffect(() => {
    const all = items();
    stopAt(all.find((one) => one === stop.current) ?? all[0]);
  });
  return {
    focusFirst: () =>
      items()
        .find((one) => one instanceof HTMLButtonElement)
        ?.focus(),
    onFocus: ({ target }: FocusEvent<HTMLElement>) => {
      if (items().includes(target)) stopAt(target);
    },
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const all = items();
      const at = all.indexOf(event.target as HTMLElement);
      const step = STEPS[event.key];
      if (!step || at < 0) return;
      event.preventDefault();
      event.stopPropagation(); // arrows move selected operators on the stage
      all[step(at, all.length)]?.focus();
    },
  };
}
