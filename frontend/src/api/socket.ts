/** A WebSocket that comes back by itself: after a lost connection, after silence, after the page was hidden. */

/** What a connection is for, and who hears of it. */
export interface SocketUse<Message> {
  /** Where to connect, with what is needed to go on from where it broke off. */
  path: () => string;
  onMessage: (message: Message) => void;
  /** The server will not go on (signed out, deleted); only `tryNow` or a return to the page asks again. */
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
export const NO_MEMBER = 4403;
export const GONE = 4404;

/** 1 s for nine tries, 2 s for ten, then a minute each. */
export function retryDelay_s(failures: number): number {
  return failures <= 9 ? 1 : failures <= 19 ? 2 : 60;
}

/** Told to all that somebody is signed in again. */
export const SIGNED_IN = "millrace:signed-in";
/** Told by whoever was refused because nobody is signed in, or nobody of the lab. */
export const SIGNED_OUT_EVENT = "millrace:signed-out";

export class LiveSocket<Message extends { type: string }> {
  /** When the connection was opened, in unix time. */
  opened_s = Infinity;
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ping: ReturnType<typeof setInterval> | undefined;
  private heard_ms = 0;
  private failures = 0;
  private wanted = false;
  private refused = false;
  private readonly use: SocketUse<Message>;

  constructor(use: SocketUse<Message>) {
    this.use = use;
  }

  open(): void {
    this.wanted = true;
    document.addEventListener("visibilitychange", this.onVisibility);
    window.addEventListener("online", this.tryNow);
    window.addEventListener(SIGNED_IN, this.onSignedIn);
    if (!document.hidden) this.connect();
  }

  close(): void {
    this.wanted = false;
    document.removeEventListener("visibilitychange", this.onVisibility);
    window.removeEventListener("online", this.tryNow);
    window.removeEventListener(SIGNED_IN, this.onSignedIn);
    this.drop();
  }

  /** Sends a message if there is a connection. */
  send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Also after a refusal, whose reason may be gone: somebody may have signed in again. */
  tryNow = (): void => {
    if (this.wanted && this.socket?.readyState !== WebSocket.OPEN) this.connect();
  };

  /** What came does not fit to what came before: asks again, from where `path` says. */
  again(): void {
    this.drop();
    this.lost();
  }

  /** While the page is hidden nothing is drawn, so nothing needs to come. */
  private onVisibility = (): void => {
    if (document.hidden) this.drop();
    else if (!this.socket) this.connect();
  };

  private onSignedIn = (): void => {
    if (this.refused) this.connect();
  };

  private connect(): void {
    this.drop();
    this.refused = false;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.use.path()}`);
    this.socket = socket;
    this.heard_ms = performance.now();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.opened_s = Date.now() / 1000;
      this.use.onTrouble(0, null);
    };
    this.ping = setInterval(() => {
      if (performance.now() - this.heard_ms >= SILENCE_MS) this.again();
      else if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ping" }));
    }, PING_MS);
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      this.heard_ms = performance.now();
      const message = JSON.parse(event.data as string) as Message;
      if (message.type === "pong") return;
      this.failures = 0;
      this.use.onMessage(message);
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.drop();
      if (event.code >= REFUSED_FROM && event.code <= REFUSED_TO) {
        this.refused = true;
        this.use.onRefused(event.code, event.reason || "The server refused the live connection.");
        if (event.code === SIGNED_OUT || event.code === NO_MEMBER)
          window.dispatchEvent(new Event(SIGNED_OUT_EVENT));
      } else this.lost();
    };
  }

  private lost(): void {
    if (!this.wanted || this.refused) return;
    this.failures += 1;
    const delay_s = retryDelay_s(this.failures);
    this.use.onTrouble(this.failures, delay_s);
    this.timer = setTimeout(() => this.connect(), delay_s * 1000);
  }

  private drop(): void {
    clearTimeout(this.timer);
    clearInterval(this.ping);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }
}
