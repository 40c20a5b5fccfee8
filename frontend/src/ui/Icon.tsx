import { ICONS, type IconName } from "./icons";

/** Names that the registries use for drawings that we have under another name. */
const ALIASES: Record<string, IconName> = {
  drop: "source",
  function: "map",
  rings: "join",
  sigma: "agg",
  aggregate: "agg",
  user: "source",
  gavel: "source",
  coins: "source",
  file: "upload",
  stream: "source",
  shuffle: "map",
  expression: "map",
  funnel: "filter",
  gauge: "driver",
  cpu: "device",
  tray: "sink",
  output: "sink",
  grid: "gallery",
};

export const iconOf = (name: string | undefined, fallback: IconName = "dots"): IconName =>
  name && name in ICONS ? (name as IconName) : (name && ALIASES[name]) || fallback;

/** A 16 px drawing; `small` is 12 px, for use inside text. Decorative: the words beside it carry the meaning. */
export function Icon({ name, small = false, className = "" }: { name: IconName; small?: boolean; className?: string }) {
  return (
    <svg className={`i ${small ? "i-s" : ""} ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      {ICONS[name]}
    </svg>
  );
}

export function Logo() {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeLinecap="round" aria-hidden="true">
      <path d="M3.5 15.5V10a4.25 4.25 0 0 1 8.5 0v5.5M12 10a4.25 4.25 0 0 1 8.5 0v5.5" strokeWidth="2.6" />
      <path d="M2.5 20c1.6 0 1.6-1 3.2-1s1.6 1 3.2 1 1.6-1 3.2-1 1.6 1 3.2 1 1.6-1 3.2-1 1.5 1 3 1" strokeWidth="1.6" />
    </svg>
  );
}
