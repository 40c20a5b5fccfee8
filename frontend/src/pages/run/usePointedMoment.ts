import { useRef, useState, type MouseEvent, type PointerEvent, type RefObject } from "react";
import { bandAt, type Band } from "../../model/run/scaling";
import type { Span } from "../../model/run/series";
import { GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { useLiveRun } from "./liveRun";

/** A press that moves so far chooses a stretch; less is a click. */
const DRAG_PX = 5;

/** So near the pointer comes to the band of a rescale to be told of it. */
const BAND_PX = 4;

/** Where a press is no choice of a moment. */
const PASSIVE = "button, .frames, .ph, select, .menu";

/** What the pointer means on the charts: the moment under it, a click to hold it, a drag to choose a stretch, a double click for all. */
export function usePointedMoment(stackRef: RefObject<HTMLElement | null>, span: Span, bands: Band[]) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const [drag, setDrag] = useState<Span | null>(null);
  const [told, setTold] = useState<number | null>(null);
  const press = useRef<{ x: number; t_s: number } | null>(null);
  const width_s = span.to_s - span.from_s;

  const timeAt = (clientX: number, clamp = false): number | null => {
    const box = stackRef.current?.getBoundingClientRect();
    if (!box) return null;
    const share = (clientX - box.left - GUTTER_LEFT) / (box.width - GUTTER_LEFT - GUTTER_RIGHT);
    if (!clamp && (share < -0.01 || share > 1.01)) return null;
    return span.from_s + Math.max(0, Math.min(1, share)) * width_s;
  };
  /** The edge of the frame that covers a moment. */
  const held = (t_s: number | null) => (t_s === null || !count ? null : log.timeOf(Math.min(log.numberAt(t_s), count - 1)));
  const bandUnder = (event: PointerEvent): number | null => {
    const t_s = bands.length && !(event.target as Element).closest(PASSIVE) ? timeAt(event.clientX) : null;
    const width_px = stackRef.current?.clientWidth ?? 1;
    return t_s === null ? null : (bandAt(bands, t_s, (BAND_PX * width_s) / width_px)?.action.number ?? null);
  };

  const onPointerDown = (event: PointerEvent) => {
    const t_s = timeAt(event.clientX);
    const passive = (event.target as HTMLElement).closest(PASSIVE);
    if (event.button === 0 && t_s !== null && !passive) press.current = { x: event.clientX, t_s };
  };
  const onPointerMove = (event: PointerEvent) => {
    useLiveRun.setState({ hovered_s: held(timeAt(event.clientX)) });
    setTold(bandUnder(event));
    const began = press.current;
    if (!began || (!drag && Math.abs(event.clientX - began.x) < DRAG_PX)) return;
    if (!drag) event.currentTarget.setPointerCapture(event.pointerId);
    const t_s = timeAt(event.clientX, true) ?? began.t_s;
    setDrag({ from_s: Math.min(began.t_s, t_s), to_s: Math.max(began.t_s, t_s) });
  };
  const onPointerUp = () => {
    const began = press.current;
    press.current = null;
    setDrag(null);
    if (drag && drag.to_s > drag.from_s) useLiveRun.setState({ zoom: drag });
    else if (began) {
      const t_s = held(began.t_s);
      if (t_s !== null) useLiveRun.setState({ pinned_s: t_s, playing: false });
    }
  };
  const onPointerCancel = () => {
    press.current = null;
    setDrag(null);
  };
  const onPointerLeave = () => {
    useLiveRun.setState({ hovered_s: null });
    setTold(null);
  };
  const onDoubleClick = (event: MouseEvent) => {
    if (!(event.target as HTMLElement).closest(PASSIVE)) useLiveRun.setState({ zoom: null });
  };
  return {
    /** The stretch that is being chosen. */
    drag,
    /** Number of the rescale under the pointer. */
    told,
    pointer: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel, onPointerLeave, onDoubleClick },
  };
}
