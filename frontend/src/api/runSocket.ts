/** The live stream of one run: its frames after the last one at hand, its row, and its end. */
import { LiveSocket } from "./socket";
import type { Frame, Run, SocketMessage } from "./types";

export interface RunListener {
  /** Number of the last frame at hand, -1 for none. */
  after: () => number;
  /**
   * Takes frames; a reconnect may repeat some. at_s: when the worker sent them; only live ones say so.
   * Returns whether they follow on: if some are missing, the stream is asked for again from the last one at hand.
   */
  onFrames: (frames: Frame[], at_s?: number) => boolean;
  onRun: (run: Run) => void;
  onEnd: () => void;
  /** The server will not follow this run for us (signed out, deleted). */
  onRefused: (code: number, reason: string) => void;
  /** Failed tries in a row (0: connected) and the seconds until the next one. */
  onTrouble: (failures: number, retryIn_s: number | null) => void;
}

export class RunSocket {
  private readonly live: LiveSocket<SocketMessage>;
  private readonly listener: RunListener;

  constructor(runId: string, listener: RunListener) {
    this.listener = listener;
    this.live = new LiveSocket<SocketMessage>({
      path: () => `/ws/runs/${runId}?after=${listener.after()}`,
      onMessage: (message) => this.receive(message),
      onRefused: listener.onRefused,
      onTrouble: listener.onTrouble,
    });
  }

  open(): void {
    this.live.open();
  }

  close(): void {
    this.live.close();
  }

  tryNow(): void {
    this.live.tryNow();
  }

  private receive(message: SocketMessage): void {
    if (message.type === "frames") this.take(message.frames, message.at_s);
    if (message.type === "state") this.listener.onRun(message.run);
    if (message.type === "end") {
      this.live.close();
      this.listener.onEnd();
    }
  }

  private take(frames: Frame[], at_s?: number): void {
    // What was sent before we listened says nothing about how long a message takes.
    const live = at_s !== undefined && at_s >= this.live.opened_s;
    if (!this.listener.onFrames(frames, live ? at_s : undefined)) this.live.again();
  }
}
