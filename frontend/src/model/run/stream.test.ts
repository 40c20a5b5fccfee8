/** The live stream against a server and a clock that the test moves. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { retryDelay_s } from "../../api/socket";
import { followsRun, type Follower } from "./testing";

let page: Follower;

beforeEach(() => {
  page = followsRun();
});
afterEach(() => {
  page.leave();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const SECOND_MS = 1000;
const pass = (ms: number) => vi.advanceTimersByTime(ms);

describe("frames", () => {
  it("are asked for from the first, and taken in order", () => {
    expect(page.server.asked).toEqual(["/ws/runs/r?after=-1"]);
    page.server.accept();
    page.server.frames(0, 2);
    page.server.frames(3, 3);
    expect(page.log.count).toBe(4);
    expect(page.log.gaps).toBe(0);
  });

  it("that come twice are taken once", () => {
    page.server.accept();
    page.server.frames(0, 4);
    page.server.frames(2, 6);
    page.server.frames(0, 1);
    expect([page.log.count, page.log.gaps, page.server.asked.length]).toEqual([7, 0, 1]);
  });

  it("that are missing are asked for again, from the last one at hand", () => {
    page.server.accept();
    page.server.frames(0, 2);
    page.server.frames(5, 6);
    expect([page.log.count, page.log.gaps]).toEqual([3, 1]);
    expect(page.server.open).toBe(false);
    pass(retryDelay_s(1) * SECOND_MS);
    expect(page.server.asked.at(-1)).toBe("/ws/runs/r?after=2");
    page.server.accept();
    page.server.frames(3, 6);
    page.server.frames(7, 7);
    expect(page.log.count).toBe(8);
  });

  it("of a connection that was given up are not taken", () => {
    page.server.accept();
    page.server.frames(0, 0);
    const old = page.server.current;
    page.server.breaks();
    pass(SECOND_MS);
    old?.onmessage?.({ data: JSON.stringify({ type: "frames", frames: [{ n: 1, t_s: 2 }] }) });
    expect(page.log.count).toBe(1);
  });

  it("say when they were sent only if they were sent after the connection was opened", () => {
    page.server.accept();
    const now_s = Date.now() / 1000;
    page.server.frames(0, 0, now_s - 5);
    page.server.frames(1, 1, now_s + 1);
    expect(page.sentAt_s).toEqual([undefined, now_s + 1]);
  });
});

describe("a lost connection", () => {
  it("is tried again after 1 s nine times, 2 s ten times, then every minute", () => {
    page.server.accept();
    const waits = Array.from({ length: 22 }, () => {
      page.server.breaks();
      const before = page.server.asked.length;
      let waited_s = 0;
      while (page.server.asked.length === before) {
        pass(SECOND_MS);
        waited_s += 1;
      }
      return waited_s;
    });
    expect(waits).toEqual([...Array<number>(9).fill(1), ...Array<number>(10).fill(2), 60, 60, 60]);
    expect(page.trouble.at(-1)).toEqual([22, 60]);
  });

  it("goes on after the last frame, and begins to count anew once something comes", () => {
    page.server.accept();
    page.server.frames(0, 9);
    for (let failures = 1; failures <= 3; failures++) {
      page.server.breaks();
      expect(page.trouble.at(-1)).toEqual([failures, 1]);
      pass(SECOND_MS);
    }
    expect(page.server.asked.at(-1)).toBe("/ws/runs/r?after=9");
    page.server.accept();
    expect(page.trouble.at(-1)).toEqual([0, null]);
    page.server.frames(10, 10);
    page.server.breaks();
    expect(page.trouble.at(-1)).toEqual([1, 1]);
  });

  it("that closes nothing is noticed by its silence", () => {
    page.server.accept();
    for (let k = 0; k < 6; k++) {
      pass(5 * SECOND_MS);
      page.server.answersPings();
    }
    expect(page.server.asked).toHaveLength(1);
    pass(15 * SECOND_MS);
    expect(page.server.open).toBe(false);
    pass(SECOND_MS);
    expect(page.server.asked).toHaveLength(2);
  });

  it("is tried at once when the network is back", () => {
    page.server.accept();
    page.server.breaks();
    window.dispatchEvent(new Event("online"));
    expect(page.server.asked).toHaveLength(2);
    pass(5 * SECOND_MS);
    expect(page.server.asked).toHaveLength(2);
  });
});

describe("a page that is hidden", () => {
  it("takes nothing, and goes on after its last frame when it is shown", () => {
    page.server.accept();
    page.server.frames(0, 4);
    page.hide(true);
    expect(page.server.open).toBe(false);
    pass(600 * SECOND_MS);
    expect(page.server.asked).toHaveLength(1);
    page.hide(false);
    expect(page.server.asked.at(-1)).toBe("/ws/runs/r?after=4");
  });

  it("does not try again meanwhile", () => {
    page.server.accept();
    page.server.breaks();
    page.hide(true);
    pass(600 * SECOND_MS);
    expect(page.server.asked).toHaveLength(1);
  });
});

describe("the end", () => {
  it("of the run is the end of the connection", () => {
    page.server.accept();
    page.server.frames(0, 3);
    page.server.says({ type: "end" });
    expect([page.ended, page.server.open]).toEqual([1, false]);
    pass(600 * SECOND_MS);
    page.hide(true);
    page.hide(false);
    window.dispatchEvent(new Event("online"));
    expect(page.server.asked).toHaveLength(1);
  });

  it("of the session is told, and waits for somebody to sign in", () => {
    const told = vi.fn();
    window.addEventListener("millrace:signed-out", told);
    page.server.accept();
    page.server.frames(0, 3);
    page.server.closes(4401, "sign in first");
    expect(page.refusals).toEqual([[4401, "sign in first"]]);
    expect(told).toHaveBeenCalledOnce();
    pass(600 * SECOND_MS);
    expect(page.server.asked).toHaveLength(1);
    window.dispatchEvent(new Event("millrace:signed-in"));
    expect(page.server.asked.at(-1)).toBe("/ws/runs/r?after=3");
    page.server.accept();
    page.server.frames(4, 4);
    expect(page.log.count).toBe(5);
  });

  it("of looking at it is final", () => {
    page.server.accept();
    page.leave();
    expect(page.server.open).toBe(false);
    pass(600 * SECOND_MS);
    expect(page.server.asked).toHaveLength(1);
  });
});

it("any order of losses, doubles and gaps gives every frame once", () => {
  let seed = 7;
  // Of a linear congruential generator only the upper bits are any good.
  const draw = (below: number) => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16) % below;
  for (let step = 0; step < 2000; step++) {
    if (!page.server.current) pass(60 * SECOND_MS);
    else if (!page.server.open) page.server.accept();
    else if (draw(8) === 0) page.server.breaks();
    else {
      const first = Math.max(0, page.log.count - draw(4) + (draw(10) === 0 ? 3 : 0));
      page.server.frames(first, first + draw(5));
    }
  }
  expect(page.log.count).toBeGreaterThan(500);
  expect([...page.log.column("n").slice(0, page.log.count)]).toEqual(Array.from({ length: page.log.count }, (_, n) => n));
});
