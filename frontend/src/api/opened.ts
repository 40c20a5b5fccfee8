/** Which experiment this page has open, told to the server for others who have it open too. */
import { PAGE } from "../lib/page";

type Tell = (message: object) => void;

let opened: string | null = null;
let tell: Tell | null = null;

const say = () => tell?.({ type: "open", experiment: opened, editor: PAGE });

export function setOpened(experiment: string | null): void {
  opened = experiment;
  say();
}

/** With a new connection: says again what is open. */
export function tellOpened(by: Tell): void {
  tell = by;
  if (opened !== null) say();
}
