/** Numbers and times as text: same digits everywhere, a thin unit beside them. */

/** Made once: a formatter takes far longer to make than to use. */
const WHOLE = new Intl.NumberFormat("en-US");

/** At most four figures: 10.7G, 4,425, 14.9k, 2.42, 0.071. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000_000_000) return `${trim(value / 1_000_000_000, 1)}G`;
  if (size >= 1_000_000_000) return `${trim(value / 1_000_000_000, 2)}G`;
  if (size >= 10_000_000) return `${trim(value / 1_000_000, 1)}M`;
  if (size >= 1_000_000) return `${trim(value / 1_000_000, 2)}M`;
  if (size >= 10_000) return `${trim(value / 1000, 1)}k`;
  if (size >= 100) return WHOLE.format(Math.round(value));
  if (size >= 10) return trim(value, 1);
  if (size >= 1) return trim(value, 2);
  return size === 0 ? "0" : trim(value, size >= 0.01 ? 3 : 4);
}

function trim(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, "") || "0";
}

/** A latency in ms as value and unit: 0.071 ms, 12.4 ms, 3.26 s. */
export function latency(ms: number): [value: string, unit: string] {
  return ms >= 1000 ? [short(ms / 1000), "s"] : ms >= 0.1 || ms === 0 ? [short(ms), "ms"] : [short(ms * 1000), "µs"];
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  let value = count;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${short(value)} ${units[at]}`;
}

export const percent = (share: number) => `${Math.round(share * 100)} %`;

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

interface Work {
  started_at: string | null;
  finished_at: string | null;
}

/** Seconds on the clock that a piece of work took; null as long as it has not ended. */
export const took_s = ({ started_at, finished_at }: Work): number | null =>
  started_at && finished_at ? (Date.parse(finished_at) - Date.parse(started_at)) / 1000 : null;

export function tookText(work: Work): string | null {
  const seconds = took_s(work);
  return seconds === null ? null : duration(seconds);
}

export function clock(time: Date): string {
  return time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** Today as a time, this year as day and month, else with the year. */
export function when(iso: string, now = new Date()): string {
  const time = new Date(iso);
  return time.toDateString() === now.toDateString() ? clock(time) : `${dayOf(iso, now)}, ${clock(time)}`;
}

/** "27 Nov", with the year if it is another one. */
export function dayOf(iso: string, now = new Date()): string {
  const time = new Date(iso);
  return time.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(time.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }),
  });
}

/** How long ago, as long as that is said in minutes; then when. */
export function ago(iso: string, now = new Date()): string {
  const minutes = Math.floor((now.getTime() - Date.parse(iso)) / 60_000);
  if (minutes < 1) return "just now";
  return minutes < 60 ? `${minutes} min ago` : when(iso, now);
}

export const plural = (count: number, one: string, many = `${one}s`) => `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

/** Words as they stand within a sentence: "Late records" is "late records", "CPU" stays. */
export const lower = (words: string) => words.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

export const initials = (name: string) =>
  name
    .split(/[\s._-]+/)
    .map((word) => word[0] ?? "")
    .join("")
    .slice(0, 2)
    .toUpperCase();
