/** A server of WebSockets, a page and a clock for the tests of connections. */
import { vi } from "vitest";
import { RunSocket } from "../../api/runSocket";
import type { Frame, SocketMessage } from "../../api/types";
import { FrameLog } from "./frames";

class FakeSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  readyState = FakeSocket.CONNECTING;
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;

  constructor(address: string) {
    const server = FakeSocket.server as Server;
    server.asked.push(address.replace("ws://millrace.test", ""));
    server.current = this;
  }

  send(text: string): void {
    this.sent.push(text);
  }

  /** As browsers do it, `onclose` comes later; here, when the page has forgotten the socket, never. */
  close(): void {
    this.readyState = FakeSocket.CLOSED;
    const server = FakeSocket.server as Server;
    if (server.current === this) server.current = null;
  }

  static server: Server | null = null;
}

class Server {
  asked: string[] = [];
  current: FakeSocket | null = null;

  get open(): boolean {
    return this.current?.readyState === FakeSocket.OPEN;
  }

  accept(): void {
    const socket = this.of();
    socket.readyState = FakeSocket.OPEN;
    socket.onopen?.();
  }

  says(message: SocketMessage): void {
    this.of().onmessage?.({ data: JSON.stringify(message) });
  }

  frames(first: number, last: number, at_s?: number): void {
    const frames = Array.from({ length: last - first + 1 }, (_, at) => ({ n: first + at, t_s: (first + at + 1) / 4 }) as Frame);
    this.says({ type: "frames", frames, ...(at_s === undefined ? {} : { at_s }) });
  }

  answersPings(): void {
    for (const text of this.of().sent.splice(0)) if (text.includes("ping")) this.says({ type: "pong" });
  }

  closes(code: number, reason = ""): void {
    const socket = this.of();
    socket.readyState = FakeSocket.CLOSED;
    this.current = null;
    socket.onclose?.({ code, reason });
  }

  breaks(): void {
    this.closes(1006);
  }

  private of(): FakeSocket {
    if (!this.current) throw new Error("nobody is connected");
    return this.current;
  }
}

export interface Follower {
  server: Server;
  log: FrameLog;
  sentAt_s: (number | undefined)[];
  trouble: [failures: number, retryIn_s: number | null][];
  refusals: [code: number, reason: string][];
  ended: number;
  hide: (hidden: boolean) => void;
  leave: () => void;
}

/** A page that follows the run "r". */
export function followsRun(): Follower {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
  const server = (FakeSocket.server = new Server());
  const page = Object.assign(new EventTarget(), { hidden: false });
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("document", page);
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("location", { protocol: "http:", host: "millrace.test" });
  const log = new FrameLog();
  const socket = new RunSocket("r", {
    after: () => log.count - 1,
    onFrames: (frames, at_s) => {
      follower.sentAt_s.push(at_s);
      return log.add(frames);
    },
    onRun: () => undefined,
    onEnd: () => (follower.ended += 1),
    onRefused: (...refusal) => follower.refusals.push(refusal),
    onTrouble: (...trouble) => follower.trouble.push(trouble),
  });
  const follower: Follower = {
    server,
    log,
    sentAt_s: [],
    trouble: [],
    refusals: [],
    ended: 0,
    hide: (hidden) => {
      page.hidden = hidden;
      page.dispatchEvent(new Event("visibilitychange"));
    },
    leave: () => socket.close(),
  };
  socket.open();
  return follower;
}
