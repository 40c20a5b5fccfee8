import { describe, expect, it } from "vitest";
import { localPlacement } from "../document/placement";
import { KINDS, smallDocument } from "../document/testing";
import { brokerOf } from "./broker";
import { svgOf } from "./picture";

const withState = (state?: object) => ({ ...smallDocument(), policies: state ? { state } : {} }) as ReturnType<typeof smallDocument>;

describe("the broker with changelogs", () => {
  const [first] = smallDocument().query.operators;
  const id = first?.id ?? "";

  it("is there where state is kept in changelogs", () => {
    expect([undefined, { kind: "memory" }, { kind: "upstream_backup" }].map((state) => brokerOf(withState(state)))).toEqual([null, null, null]);
    expect(brokerOf(withState({ kind: "changelog" }))).toEqual({ cores: 8, partitions: [], about: "one for each instance with state" });
  });

  it("has a partition for each instance", () => {
    const found = brokerOf(withState({ kind: "changelog_memory", operators: [id], broker: { cores: 4 } }));
    expect(found?.cores).toBe(4);
    expect(found?.partitions).toEqual(Array(first?.parallelism ?? 1).fill(id));
    expect(found?.about).toBe(`${id} ×${first?.parallelism ?? 1}`);
  });

  it("is in the picture, beside the hosts", () => {
    const width = (state?: object) => {
      const document = withState(state);
      const drawn = { document, kinds: KINDS, placement: localPlacement(document), schemas: {}, streamTitles: new Map<string, string>() };
      const { svg, width } = svgOf(drawn, (token) => `#${token.length}00`);
      expect(svg.includes(">Broker<")).toBe(Boolean(state));
      return width;
    };
    const beyond = width({ kind: "changelog", operators: [id] }) - width();
    expect(beyond).toBeGreaterThanOrEqual(0); // there may be room beside the hosts
    expect(beyond).toBeLessThanOrEqual(176);
  });
});
