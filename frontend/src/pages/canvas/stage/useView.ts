import { getViewportForBounds, useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { moveMs } from "../../../lib/motion";
import { boxOf, hardwareOf } from "../../../model/graph/hardware";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** Height that the stage's own header takes, px. */
const HEADER = 64;
const EDGE = 28;
/** A small query is not drawn smaller than this; a large one as small as it takes to see all of it. */
const ZOOM_MIN = 0.15;
const ZOOM_MAX = 1.36;
/** From here on what is looked for can be read. */
const READABLE_ZOOM = 0.7;

interface View {
  /** Shows all of it. */
  fit: (duration_ms?: number) => void;
  /** A large query is not drawn before it is known from how far away. */
  isFitted: boolean;
  zoomMin: number;
}

/** From where the stage is seen: all of an experiment when it is opened, then what was searched or is wrong. */
export function useView(stageRef: RefObject<HTMLElement | null>): View {
  const id = useEditor((state) => state.id);
  const revealed = useEditor((state) => state.revealed);
  const { kinds } = useRegistry();
  const flow = useReactFlow();
  const fitted = useRef("");
  const [isFitted, setFitted] = useState(false);
  const [zoomMin, setZoomMin] = useState(ZOOM_MIN);

  const fit = useCallback(
    (duration = moveMs()) => {
      const size = stageRef.current?.getBoundingClientRect();
      if (!size) return;
      const box = boxOf(hardwareOf(useEditor.getState().document, kinds));
      const viewport = getViewportForBounds(box, size.width, size.height, 0, ZOOM_MAX, {
        top: `${HEADER}px`,
        left: `${EDGE}px`,
        right: `${EDGE}px`,
        bottom: "24px",
      });
      // Where there is room to spare it goes to the bottom, under the hardware: the query begins at the top.
      viewport.y = Math.min(viewport.y, HEADER - box.y * viewport.zoom);
      setZoomMin(Math.min(ZOOM_MIN, viewport.zoom));
      void flow.setViewport(viewport, { duration });
    },
    [stageRef, flow, kinds],
  );

  useEffect(() => {
    if (fitted.current === id || !flow.viewportInitialized) return;
    fitted.current = id;
    fit(0);
    setFitted(true);
  }, [id, flow.viewportInitialized, fit]);

  // What was searched or is wrong comes into view; a move of the view is no more than it needs.
  useEffect(() => {
    const known = revealed.filter((node) => flow.getNode(node));
    const size = stageRef.current?.getBoundingClientRect();
    if (!known.length || !size) return;
    const { zoom } = flow.getViewport();
    const box = flow.getNodesBounds(known);
    const [from, to] = [flow.flowToScreenPosition(box), flow.flowToScreenPosition({ x: box.x + box.width, y: box.y + box.height })];
    const isIn = from.x >= size.left && from.y >= size.top + HEADER && to.x <= size.right && to.y <= size.bottom;
    if (isIn && zoom >= READABLE_ZOOM) return;
    const fits = Math.min(size.width / (box.width + 2 * EDGE), size.height / (box.height + 2 * HEADER));
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const to_zoom = Math.min(Math.max(zoom, READABLE_ZOOM), fits);
    // Not `setCenter`: the flow learns only later that a panel at the side has made the stage narrower.
    const [x, y] = [size.width / 2 - middle.x * to_zoom, size.height / 2 - middle.y * to_zoom];
    void flow.setViewport({ x, y, zoom: to_zoom }, { duration: moveMs() });
  }, [revealed, stageRef, flow]);

  return { fit, isFitted, zoomMin };
}
