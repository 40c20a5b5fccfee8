import type { StandbyNews, StandbyPair, Takeover } from "../../api/types";

/** What frames tell in lists: of each pair who they are, and all takeovers, in order. */
export class StandbyHistory {
  pairs: StandbyPair[] = [];
  readonly takeovers: Takeover[] = [];

  add({ instances, takeovers }: StandbyNews): void {
    this.pairs = instances;
    for (const one of takeovers) {
      const at = this.takeovers.findIndex(({ host, lost_s }) => host === one.host && lost_s === one.lost_s);
      if (at < 0) this.takeovers.push(one);
      else this.takeovers[at] = one;
    }
  }
}
