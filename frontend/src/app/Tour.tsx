import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "react-router";
import { useCommands, type Command } from "../session/commands";
import { endTour, startTour, TOUR, useTour } from "../session/tourState";
import { Icon } from "../ui/Icon";

const CARD = { width: 320, height: 190, gap: 12 } as const;

const COMMANDS: Command[] = [{ group: "Everywhere", does: "Take the tour", run: startTour }];

/** The offer for who is new, or the step that is shown. Nothing is blocked meanwhile; Esc ends it. */
export function Tour() {
  const { offered, at } = useTour();
  const { pathname } = useLocation();
  useCommands("tour", COMMANDS);
  const onCanvas = /^\/experiments\/./.test(pathname);
  if (at !== null) return <Step key={`${at} ${pathname}`} at={at} />;
  if (!offered || !onCanvas) return null;
  return (
    <aside className="tour-offer" aria-label="Tour" data-testid="tour-offer">
      <Icon name="flag" />
      <span>New here? The tour takes a minute.</span>
      <button className="btn" onClick={startTour}>
        Take the tour
      </button>
      <button className="btn ghost" onClick={endTour}>
        No, thanks
      </button>
    </aside>
  );
}

const targetOf = (at: number) => document.querySelector(TOUR[at]?.target ?? "");

function Step({ at }: { at: number }) {
  const step = TOUR[at];
  const [box, setBox] = useState<DOMRect | null>(null);
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const measure = () => setBox(targetOf(at)?.getBoundingClientRect() ?? null);
    measure();
    const timer = setInterval(measure, 300); // the page may still be loading, or be folded
    window.addEventListener("resize", measure);
    return () => {
      clearInterval(timer);
      window.removeEventListener("resize", measure);
    };
  }, [at]);
  const there = box !== null;
  useEffect(() => {
    if (there) card.current?.focus();
  }, [there]);
  if (!step || !box) return null;
  const go = (by: number) => {
    let next = at + by;
    while (TOUR[next] && !targetOf(next)) next += by;
    if (TOUR[next]) useTour.setState({ at: next });
    else if (by > 0) endTour();
  };
  return (
    <>
      <div className="tour-ring" style={{ left: box.left, top: box.top, width: box.width, height: box.height }} />
      <section
        className="tour"
        role="dialog"
        aria-labelledby="tour-title"
        aria-describedby="tour-text"
        tabIndex={-1}
        ref={card}
        style={placeBeside(box)}
        data-testid="tour"
        onKeyDown={(event) => event.key === "Escape" && endTour()}
      >
        <h2 id="tour-title">{step.title}</h2>
        <p id="tour-text">{step.text}</p>
        <footer>
          <span className="mut small">
            {at + 1} of {TOUR.length}
          </span>
          <span className="grow" />
          <button className="btn ghost" onClick={endTour}>
            End
          </button>
          {at > 0 && (
            <button className="btn" onClick={() => go(-1)}>
              Back
            </button>
          )}
          <button className="btn primary" onClick={() => go(1)}>
            {at === TOUR.length - 1 ? "Done" : "Next"}
          </button>
        </footer>
      </section>
    </>
  );
}

/** Beside what it speaks of where there is room: right, left, below; else inside. */
function placeBeside(box: DOMRect): { left: number; top: number } {
  const [width, height] = [window.innerWidth, window.innerHeight];
  const clamp = (value: number, most: number) => Math.max(CARD.gap, Math.min(value, most - CARD.gap));
  const top = clamp(box.top, height - CARD.height);
  if (box.right + CARD.width + 2 * CARD.gap < width) return { left: box.right + CARD.gap, top };
  if (box.left > CARD.width + 2 * CARD.gap && box.width < width / 2) {
    if (box.height < CARD.height) return { left: clamp(box.right - CARD.width, width - CARD.width), top: box.bottom + CARD.gap };
    return { left: box.left - CARD.width - CARD.gap, top };
  }
  return { left: clamp(box.left + CARD.gap, width - CARD.width), top: clamp(box.bottom - CARD.height - CARD.gap, height - CARD.height) };
}
