/** Imported first: what is drawn from is on its way while the rest of the application is still being set up. */
import { askAhead } from "../api/ahead";

const EXPERIMENT = /^\/experiments\/([\w-]+)\/?$/;

askAhead("/api/registry"); // most pages need it before they can draw

const id = EXPERIMENT.exec(location.pathname)?.[1];
if (id) {
  askAhead(`/api/experiments/${id}`);
  import("../pages/canvas/CanvasPage").catch(() => undefined); // the router asks again, and says what is wrong
}
