/** The live stream of one run: asks for what follows the last frame, and comes back by itself. */
import type { Frame, Run, SocketMessage } from "./types";

export interface RunListener {
  /** Number of the last frame at hand, -1 for none. */
  after: () => number;
  onFrames: (frames: Frame[]) => void;
  onRun: (run: Run) => void;
  onEnd: () => void;
  /** The server will not follow this run for us (signed out, deleted). */
  onRefused: (reason: string) => void;
  /** Failed tries in a row (0: connected) and the seconds until the next one. */
  onTrouble: (failures: number, retryIn_s: number | null) => void;
}

const PING_MS = 20_000;
/** Close codes with which the server says that another try would end the same way. */
const REFUSED_FROM = 4400;
const REFUSED_TO = 4499;

/** 1 s for nine tries, 2 s for ten, then a minute each. */
export function retryDelay_s(failures: number): number {
  return failures <= 9 ? 1 : failures <= 19 ? 2 : 60;
}

export class RunSocket {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ping: ReturnType<typeof setInterval> | undefined;
  private failures = 0;
  private wanted = false;
  private ended = false;
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

  tryNow(): void {
    if (this.wanted && !this.ended && this.socket?.readyState !== WebSocket.OPEN) {
      this.drop();
      this.connect();
    }
  }

  private connect(): void {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${this.runId}?after=${this.listener.after()}`);
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      this.listener.onTrouble(0, null);
      this.ping = setInterval(() => socket.send(JSON.stringify({ type: "ping" })), PING_MS);
    };
    socket.onmessage = (event) => this.receive(JSON.parse(event.data as string) as SocketMessage);
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      if (event.code >= REFUSED_FROM && event.code <= REFUSED_TO) {
        this.ended = true;
        this.drop();
        return this.listener.onRefused(event.reason || "The server refused the live connection.");
      }
      this.socket = null;
      clearInterval(this.ping);
      if (!this.wanted || this.ended) return;
      this.failures += 1;
      const delay_s = retryDelay_s(this.failures);
      this.listener.onTrouble(this.failures, delay_s);
      this.timer = setTimeout(() => this.connect(), delay_s * 1000);
    };
  }

  private receive(message: SocketMessage): void {
    if (message.type === "frames") this.listener.onFrames(message.frames);
    if (message.type === "state") this.listener.onRun(message.run);
    if (message.type === "end") {
      this.ended = true;
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
