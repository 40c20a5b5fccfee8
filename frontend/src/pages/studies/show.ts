import { pointerParts, joinPointer } from "../../model/document/validate";

const FLASH_MS = 1200;

/** Brings the field of a pointer into view, or the nearest part around it, and gives it the focus. */
export function show(pointer: string): void {
  const parts = pointerParts(pointer);
  for (let length = parts.length; length > 0; length -= 1) {
    const at = joinPointer("", parts.slice(0, length));
    const element = document.querySelector<HTMLElement>(`.study-editor [data-pointer="${CSS.escape(at)}"]`);
    if (!element) continue;
    for (let fold = element.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) fold.open = true;
    element.scrollIntoView({ block: "center" });
    element.classList.add("flash");
    setTimeout(() => element.classList.remove("flash"), FLASH_MS);
    element.querySelector<HTMLElement>("input, select, textarea, button")?.focus({ preventScroll: true });
    return;
  }
  document.querySelector<HTMLElement>(".study-editor input")?.focus();
}
