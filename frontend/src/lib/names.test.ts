import { expect, it } from "vitest";
import { freeOf } from "./names";

it("numbers a name that is taken", () => {
  expect(freeOf("Study of Q3", [])).toBe("Study of Q3");
  expect(freeOf("Study of Q3", ["Study of Q3"])).toBe("Study of Q3 (2)");
  expect(freeOf("Study of Q3 (2)", ["Study of Q3", "Study of Q3 (2)", "Study of Q3 (3)"])).toBe("Study of Q3 (4)");
  expect(freeOf("", [])).toBe("");
});
