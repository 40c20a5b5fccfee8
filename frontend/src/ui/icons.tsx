/** The icon drawings, 16 x 16, stroked with the text colour; one entry per name. */
import type { ReactNode } from "react";

export const ICONS = {
  pin: <path d="M5.5 1.5h5M6.5 1.5v5L4 9.5h8L9.5 6.5v-5M8 9.5v5" />,
  gallery: <path d="M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z" />,
  canvas: <path d="M1.5 3.5h4v3h-4zM1.5 9.5h4v3h-4zM10.5 6.5h4v3h-4zM5.5 5c3 0 2 3 5 3M5.5 11c3 0 2-3 5-3" />,
  runs: <path d="M2 4h1M2 8h1M2 12h1M6 4h8M6 8h8M6 12h8" />,
  compare: (
    <>
      <path d="M2 11l3-5 3 3 3-6 3 4" />
      <path d="M2 14l3-3 3 1.5 3-3.5 3 1" strokeDasharray="1.5 2" />
    </>
  ),
  dataset: (
    <path d="M2.5 3.9c0-1.3 2.5-2.2 5.5-2.2s5.5.9 5.5 2.2-2.5 2.2-5.5 2.2-5.5-.9-5.5-2.2zM2.5 3.9v8.2c0 1.3 2.5 2.2 5.5 2.2s5.5-.9 5.5-2.2V3.9M2.5 8c0 1.3 2.5 2.2 5.5 2.2s5.5-.9 5.5-2.2" />
  ),
  studies: <path d="M2.5 2v11.5H14M5 10.5h.1M7.5 8h.1M10 6h.1M12.5 3.5h.1M7.5 11h.1M10 9.5h.1M12.5 8h.1" strokeWidth={1.7} />,
  figures: <path d="M3 1.5h7l3 3v10H3zM10 1.5v3h3M5.5 12V9.5M8 12V7M10.5 12v-3.5" />,
  models: (
    <>
      <circle cx="3.5" cy="8" r="1.7" />
      <circle cx="12.5" cy="3.5" r="1.7" />
      <circle cx="12.5" cy="12.5" r="1.7" />
      <path d="M5 7.2l6-3M5 8.8l6 3" />
    </>
  ),
  lab: (
    <>
      <circle cx="6" cy="5" r="2.5" />
      <path d="M1.5 13.5c0-5 9-5 9 0M11 3a2.3 2.3 0 0 1 0 4.4M12.5 9.7c1.3.6 2 1.9 2 3.8" />
    </>
  ),
  undo: <path d="M5.5 3L2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6" />,
  redo: <path d="M10.5 3l3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h4" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.5 10.5l3.5 3.5" />
    </>
  ),
  check: <path d="M3 8.5l3.5 3.5L13 4.5" />,
  checkc: (
    <>
      <circle cx="8" cy="8" r="6.3" />
      <path d="M5 8.2l2.2 2.2L11 6" />
    </>
  ),
  cross: <path d="M4 4l8 8M12 4l-8 8" />,
  crossc: <path d="M5.2 1.7h5.6l3.5 3.5v5.6l-3.5 3.5H5.2l-3.5-3.5V5.2zM5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" />,
  dashc: (
    <>
      <circle cx="8" cy="8" r="6.3" strokeDasharray="2.5 2" />
      <path d="M5.5 8h5" />
    </>
  ),
  askc: (
    <>
      <circle cx="8" cy="8" r="6.3" />
      <path d="M6.1 6.3a1.9 1.9 0 1 1 2.9 1.6c-.7.4-1 .8-1 1.6M8 11.6v.1" />
    </>
  ),
  halfc: (
    <>
      <circle cx="8" cy="8" r="6.3" />
      <path d="M8 1.7a6.3 6.3 0 0 1 0 12.6z" fill="currentColor" />
    </>
  ),
  warn: <path d="M8 2l6.3 11.5H1.7zM8 6.5v3.2M8 11.7v.1" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6.3" />
      <path d="M8 7.3V11M8 5v.1" />
    </>
  ),
  play: <path d="M4.5 2.8v10.4L13 8z" fill="currentColor" />,
  pause: <path d="M5 3v10M11 3v10" strokeWidth={2.5} />,
  stop: <path d="M3.5 3.5h9v9h-9z" fill="currentColor" />,
  step: <path d="M4 3.5v9L10.5 8zM12.5 3.5v9" fill="currentColor" />,
  unlink: <path d="M6.5 4.5L8 3a2.8 2.8 0 0 1 4.5 4L11 8.5M9.5 11.5L8 13a2.8 2.8 0 0 1-4.5-4L5 7.5M3 3l10 10" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="6.3" />
      <path d="M8 4.2V8l2.6 1.8" />
    </>
  ),
  power: <path d="M8 1.8v6M4.6 4.2a5.2 5.2 0 1 0 6.8 0" />,
  feedback: <path d="M5 9L2 6l3-3M2 6h8.5a3.5 3.5 0 0 1 0 7H6" />,
  union: <path d="M2 3.5h2c4 0 3 4.5 6 4.5h4M2 12.5h2c4 0 3-4.5 6-4.5M11.5 5.5L14 8l-2.5 2.5" />,
  fork: (
    <>
      <circle cx="4" cy="3.5" r="1.7" />
      <circle cx="4" cy="12.5" r="1.7" />
      <circle cx="12" cy="5.5" r="1.7" />
      <path d="M4 5.2v5.6M4 9.5c5 0 8-.5 8-2.3" />
    </>
  ),
  down: <path d="M4 6l4 4 4-4" />,
  right: <path d="M6 4l4 4-4 4" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
    </>
  ),
  moon: <path d="M13.5 9.7A6 6 0 0 1 6.3 2.5a6 6 0 1 0 7.2 7.2z" />,
  auto: <path d="M1.5 3h13v8h-13zM5.5 13.5h5" />,
  source: <path d="M8 2c2.7 3.3 4 5.3 4 7.3a4 4 0 0 1-8 0C4 7.3 5.3 5.3 8 2z" />,
  filter: <path d="M2 3h12L9.5 8.5v4.5l-3-1.5v-3z" />,
  map: <path d="M2 5h8M7.5 2.5L10 5 7.5 7.5M14 11H6M8.5 8.5L6 11l2.5 2.5" />,
  join: (
    <>
      <circle cx="6" cy="8" r="4.3" />
      <circle cx="10" cy="8" r="4.3" />
    </>
  ),
  window: <path d="M1.5 12.5h13M2.5 10V4h3.3v6M6.4 10V6h3.2v4M10.2 10V3h3.3v7" />,
  agg: <path d="M12.5 3h-9l5 5-5 5h9" />,
  sink: <path d="M8 1.5v7M5 6l3 3 3-3M2 10v3.5h12V10" />,
  host: <path d="M2 3h12v4.5H2zM2 8.5h12V13H2zM4.5 5.3v.1M4.5 10.7v.1" />,
  broker: <path d="M2 3.5h12M2 8h12M2 12.5h12M5 2v3M9 6.5v3M12 11v3" />,
  store: (
    <>
      <ellipse cx="8" cy="3.7" rx="5.5" ry="2" />
      <path d="M2.5 3.7v8.6c0 2.7 11 2.7 11 0V3.7M2.5 8c0 2.7 11 2.7 11 0" />
    </>
  ),
  driver: <path d="M2.5 12a6 6 0 1 1 11 0M8 9.5l3-3.5" />,
  device: <path d="M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14" />,
  fog: <path d="M4.5 7.5a3 3 0 0 1 .6-5.3 4 4 0 0 1 7 2A2.5 2.5 0 0 1 12 7.5M2 10.5h12M4 13.5h8" />,
  cloud: <path d="M4.5 12.5a3 3 0 0 1-.3-6 4 4 0 0 1 7.6.3 2.9 2.9 0 0 1 .2 5.7z" />,
  bolt: <path d="M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z" fill="currentColor" />,
  scale: <path d="M9 7l4.5-4.5M10 2.5h3.5V6M7 9l-4.5 4.5M6 13.5H2.5V10" />,
  export: <path d="M8 10V2M5 4.5L8 1.5l3 3M2.5 9v5h11V9" />,
  learn: <path d="M8 3L1.5 6.2 8 9.4l6.5-3.2zM4 7.6v3.6c0 2.4 8 2.4 8 0V7.6M14.5 6.2v4" />,
  first: <path d="M12.5 3.5v9L6 8zM4 3.5v9" />,
  last: <path d="M3.5 3.5v9L10 8zM12 3.5v9" />,
  left: <path d="M10 4l-4 4 4 4" />,
  book: <path d="M8 4C6.5 2.7 4.3 2.5 2 2.5V12c2.3 0 4.5.2 6 1.5 1.5-1.3 3.7-1.5 6-1.5V2.5c-2.3 0-4.5.2-6 1.5zM8 4v9.5" />,
  fit: <path d="M2 5.5V2h3.5M10.5 2H14v3.5M14 10.5V14h-3.5M5.5 14H2v-3.5" />,
  layout: <path d="M2 2.5h4v3H2zM10 6.5h4v3h-4zM2 10.5h4v3H2zM6 4h2v8H6M8 8h2" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  flag: <path d="M3.5 14.5V2M3.5 2.5H12L10 5.5l2 3H3.5" />,
  dots: <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" strokeWidth={2.2} />,
  restore: <path d="M2.5 8a5.5 5.5 0 1 1 1.8 4M2.5 13v-3.2h3.2" />,
  upload: <path d="M3 1.5h6.5l3.5 3.5v9.5H3zM8 12V7.5M6 9.5l2-2 2 2" />,
  back: <path d="M8 3.5L3.5 8 8 12.5M13 3.5L8.5 8l4.5 4.5" />,
  table: <path d="M2 3h12v10H2zM2 6.3h12M2 9.7h12M6.5 3v10" />,
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />,
  trash: <path d="M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4M6.7 7v4M9.3 7v4" />,
  import: <path d="M8 2v8M5 7.5l3 3 3-3M2.5 9v5h11V9" />,
  keyboard: <path d="M1.5 4h13v8.5h-13zM4 6.7v.1M6.7 6.7v.1M9.3 6.7v.1M12 6.7v.1M5 10h6" />,
  lock: <path d="M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2" />,
  rerun: <path d="M13.5 8a5.5 5.5 0 1 1-1.8-4M13.5 2v3.2h-3.2" />,
  panel: <path d="M2 3h12v10H2zM10 3v10" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof ICONS;
