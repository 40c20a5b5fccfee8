import { afterEach, describe, expect, it, vi } from "vitest";
import { get, post } from "./client";

const KEY = "Idempotency-Key";

function answering(...answers: (Response | Error)[]) {
  const asked: { path: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({ path, init });
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new TypeError("asked once more");
    return answer;
  });
  vi.stubGlobal("document", { cookie: "csrftoken=abc" });
  return asked;
}

const keyOf = (init: RequestInit | undefined) => (init?.headers as Record<string, string>)[KEY];
const made = () => new Response('{"id": 1}', { status: 201 });

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("requests that make something", () => {
  it("are sent again with the same key if no answer came", async () => {
    const asked = answering(new TypeError("no network"), made());
    expect(await post("/api/studies", { a: 1 })).toEqual({ id: 1 });
    expect(asked.map((one) => one.path)).toEqual(["/api/studies", "/api/studies"]);
    expect(keyOf(asked[0]?.init)).toMatch(/^[0-9a-f]{32}$/);
    expect(keyOf(asked[1]?.init)).toBe(keyOf(asked[0]?.init));
  });

  it("say that the server is away if it stays so", async () => {
    answering(new TypeError("no network"), new TypeError("no network"));
    await expect(post("/api/studies")).rejects.toThrow("The server cannot be reached.");
  });

  it("have a key each", async () => {
    const asked = answering(made(), made());
    await post("/api/studies");
    await post("/api/studies");
    expect(keyOf(asked[1]?.init)).not.toBe(keyOf(asked[0]?.init));
  });
});

it("gives no key to what makes nothing", async () => {
  const asked = answering(new Response("{}"), new Response("{}"));
  await post("/api/validate", {});
  await get("/api/runs");
  expect(asked.map((one) => keyOf(one.init))).toEqual([undefined, undefined]);
});
