import { expect, it } from "vitest";
import { nextOrder } from "./order";

const clicks = (first: string, column: string, usual: string) => {
  const seen = [first];
  for (let click = 0; click < 3; click++) seen.push(nextOrder(seen.at(-1) as string, column, usual));
  return seen;
};

it("goes down, then up, then to the usual order", () => expect(clicks("group", "runs", "group")).toEqual(["group", "-runs", "runs", "group"]));

it("turns round the column of the usual order with each click", () => {
  expect(clicks("group", "group", "group")).toEqual(["group", "-group", "group", "-group"]);
  expect(clicks("-number", "number", "-number")).toEqual(["-number", "number", "-number", "number"]);
});
