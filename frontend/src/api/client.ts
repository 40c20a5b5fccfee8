/** fetch with the session cookie, the CSRF header and errors that carry the server's own sentence. */
import { takeAhead } from "./ahead";
import { SIGNED_OUT_EVENT } from "./socket";
import type { Problem } from "./types";

export class ApiError extends Error {
  readonly status: number;
  readonly problems: Problem[];
  readonly body: unknown;

  constructor(status: number, message: string, body: unknown) {
    super(message);
    this.status = status;
    this.body = body;
    const problems = (body as { problems?: unknown } | null)?.problems;
    this.problems = Array.isArray(problems) ? (problems as Problem[]) : [];
  }
}

function cookie(name: string): string {
  const pair = document.cookie.split("; ").find((entry) => entry.startsWith(`${name}=`));
  return pair ? decodeURIComponent(pair.slice(name.length + 1)) : "";
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sentence(status: number, body: unknown): string {
  const detail = (body as { detail?: unknown } | null)?.detail;
  if (typeof detail === "string") return detail;
  if (status === 401 || status === 403) return "You are not signed in.";
  if (status === 404) return "Nothing found at this address.";
  return `The server answered ${status}.`;
}

/** Random, and not of crypto.randomUUID, which only pages over TLS have. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const AGAIN_AFTER_MS = 500;

/** POSTs that make nothing, and need no key. */
const READS = new RegExp(
  "^/api/(validate|preview|threshold|advice|python|pyspark|compare/documents|studies/validate|spark/selection|datasets/preview)",
);

/** A POST that got no answer is sent once more: by its key the server knows whether it has carried it out. */
async function sent(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.method !== "POST" || init.signal?.aborted) throw error;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    return fetch(path, init);
  }
}

async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  const form = body instanceof FormData;
  if (method !== "GET") headers["X-CSRFToken"] = cookie("csrftoken");
  if (method === "POST" && !READS.test(path)) headers["Idempotency-Key"] = newKey();
  if (body !== undefined && !form) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    const ahead = method === "GET" ? await takeAhead(path) : null;
    response = ahead ?? (await sent(path, {
      method,
      headers,
      credentials: "same-origin",
      signal: signal ?? null,
      body: body === undefined ? null : form ? body : JSON.stringify(body),
    }));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "The server cannot be reached. Is it running?", null);
  }
  const answer = await readBody(response);
  // Whoever listens asks who is there; that question's own answer is no news, nor that somebody could not sign in.
  const isAboutWho = response.status === 401 || (response.status === 403 && (answer as { needs?: unknown } | null)?.needs !== undefined);
  if (isAboutWho && !["/api/me", "/api/session"].includes(path)) window.dispatchEvent(new Event(SIGNED_OUT_EVENT));
  if (!response.ok) throw new ApiError(response.status, sentence(response.status, answer), answer);
  return answer as T;
}

/** A file that is made from the body. */
export async function postForFile(path: string, body: unknown): Promise<Blob> {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": cookie("csrftoken") };
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", headers, credentials: "same-origin", body: JSON.stringify(body) });
  } catch {
    throw new ApiError(0, "The server cannot be reached. Is it running?", null);
  }
  if (response.ok) return response.blob();
  const answer = await readBody(response);
  throw new ApiError(response.status, sentence(response.status, answer), answer);
}

export const get = <T>(path: string, signal?: AbortSignal) => request<T>("GET", path, undefined, signal);
export const post = <T>(path: string, body?: unknown, signal?: AbortSignal) => request<T>("POST", path, body ?? {}, signal);
export const put = <T>(path: string, body: unknown) => request<T>("PUT", path, body);
export const remove = (path: string) => request<unknown>("DELETE", path);
export const upload = <T>(path: string, form: FormData, signal?: AbortSignal) => request<T>("POST", path, form, signal);
