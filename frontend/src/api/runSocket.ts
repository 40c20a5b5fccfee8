/** The live stream of one run: asks for what follows the last frame, and comes back by itself. */
import type { Frame, Run, SocketMessage } from "./types";

export interface RunListener {
  /** Number of the last frame at hand, -1 for none. */
  after: () => number;
  /** at_s: when the worker sent them; only live ones say so. */
  onFrames: (frames: Frame[], at_s?: number) => void;
  onRun: (run: Run) => void;
  onEnd: () => void;
  /** The server will not follow this run for us (signed out, deleted). */
  onRefused: (code: number, reason: string) => void;
  /** Failed tries in a row (0: connected) and the seconds until the next one. */
  onTrouble: (failures: number, retryIn_s: number | null) => void;
}

/** A connection of which nothing is heard for so long is taken for lost: a cut network closes no socket. */
const PING_MS = 5_000;
const SILENCE_MS = 12_000;
/** Close codes with which the server says that another try would end the same way. */
const REFUSED_FROM = 4400;
const REFUSED_TO = 4499;
export const SIGNED_OUT = 4401;
export const GONE = 4404;

/** 1 s for nine tries, 2 s for ten, then a minute each. */
export function retryDelay_s(failures: number): number {
  return failures <= 9 ? 1 : failures <= 19 ? 2 : 60;
}

export class RunSocket {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ping: ReturnType<typeof setInterval> | undefined;
  private heard_ms = 0;
  private opened_s = Infinity;
  private failures = 0;
  private wanted = false;
  private finished = false;
  private refused = false;
  private readonly runId: string;
  private readonly listener: RunListener;

  constructor(runId: string, listener: RunListener) {
    this.runId = runId;
    this.listener = listener;
  }

  open(): void {
    this.wanted = true;
    this.connect();
  }

  close(): void {
    this.wanted = false;
    this.drop();
  }

  /** While the page is hidden nothing is drawn, so nothing needs to come; on return the stream goes on after the last frame. */
  pause(): void {
    if (this.wanted) this.drop();
  }

  resume(): void {
    if (this.wanted && !this.ended && !this.socket) this.connect();
  }

  /** Also after a refusal, whose reason may be gone: somebody may have signed in again. */
  tryNow(): void {
    if (this.wanted && !this.finished && this.socket?.readyState !== WebSocket.OPEN) {
      this.refused = false;
      this.drop();
      this.connect();
    }
  }

  private get ended(): boolean {
    return this.finished || this.refused;
  }

  private connect(): void {
    clearTimeout(this.timer);
    clearInterval(this.ping);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${this.runId}?after=${this.listener.after()}`);
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      this.opened_s = Date.now() / 1000;
      this.listener.onTrouble(0, null);
    };
    this.heard_ms = performance.now();
    this.ping = setInterval(() => {
      if (!this.isSilent(socket) && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ping" }));
    }, PING_MS);
    socket.onmessage = (event) => {
      this.heard_ms = performance.now();
      if (this.socket === socket) this.receive(JSON.parse(event.data as string) as SocketMessage);
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      if (event.code >= REFUSED_FROM && event.code <= REFUSED_TO) {
        this.refused = true;
        this.drop();
        return this.listener.onRefused(event.code, event.reason || "The server refused the live connection.");
      }
      this.lost();
    };
  }

  private isSilent(socket: WebSocket): boolean {
    if (this.socket !== socket || performance.now() - this.heard_ms < SILENCE_MS) return false;
    this.drop();
    this.lost();
    return true;
  }

  private lost(): void {
    this.socket = null;
    clearInterval(this.ping);
    if (!this.wanted || this.ended) return;
    this.failures += 1;
    const delay_s = retryDelay_s(this.failures);
    this.listener.onTrouble(this.failures, delay_s);
    this.timer = setTimeout(() => this.connect(), delay_s * 1000);
  }

  private receive(message: SocketMessage): void {
    if (message.type === "frames") {
      // What was sent before we listened says nothing about how long a message takes.
      const live = message.at_s !== undefined && message.at_s >= this.opened_s;
      this.listener.onFrames(message.frames, live ? message.at_s : undefined);
    }
    if (message.type === "state") this.listener.onRun(message.run);
    if (message.type === "end") {
      this.finished = true;
      this.listener.onEnd();
      this.drop();
    }
  }

  private drop(): void {
    clearTimeout(this.timer);
    clearInterval(this.ping);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }
}
