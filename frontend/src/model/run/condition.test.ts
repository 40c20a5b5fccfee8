import { expect, it } from "vitest";
import { choiceOf, chosenAnew, conditionRefusal, inRange, oneOf, ofNumbers, outwards, unset, withCondition, withoutWord, wordsOf } from "./condition";

it("adds a condition to a search once", () => {
  expect(withCondition("", "p99", ">", "10")).toBe("p99>10");
  expect(withCondition(" q3  seed=1", "p99", "<=", " 10 ")).toBe("q3 seed=1 p99<=10");
  expect(withCondition("", "p99", ">", "500 ms")).toBe("p99>500ms");
  expect(withCondition("p99>10 q3", "p99", ">", "10")).toBe("p99>10 q3");
  expect(withCondition('tag="two words"', "p99", ">", "10")).toBe('tag="two words" p99>10');
});

it("says what is missing", () => {
  expect(conditionRefusal("", "1")).toContain("Choose");
  expect(conditionRefusal("p99 >", "1")).toContain("quotation marks");
  expect(conditionRefusal("p99", "")).toContain("value");
  expect(conditionRefusal("p99", "1 2")).toContain("quotation marks");
  expect(conditionRefusal("tag", '"two words')).toContain("Close");
  expect(conditionRefusal("tag", '"two words"')).toBeNull();
  expect(conditionRefusal("/a/b", "x")).toBeNull();
  expect(conditionRefusal("p99", "10 s")).toBeNull();
});

it("reads what stands in quotation marks as part of one word", () => {
  expect(wordsOf('q3 tag:"two words"  "/a b/c"=3 ')).toEqual(["q3", 'tag:"two words"', '"/a b/c"=3']);
  expect(wordsOf('say:"a \\" b" c')).toEqual(['say:"a \\" b"', "c"]);
  expect(withoutWord('q3 tag:"two words"', 'tag:"two words"')).toBe("q3");
});

it("tells which field a word chooses values of", () => {
  expect(["p99:1s..2s", "state=failed|queued", '"/a b"=3', "no:tag"].map(choiceOf)).toEqual(["p99", "state", "/a b", "tag"]);
  expect(["p99>5", "p99>=5", "state!=failed", "note:x", "has:p99", "word"].map(choiceOf)).toEqual([null, null, null, null, null, null]);
});

it("replaces an earlier choice of the same field, and nothing else", () => {
  expect(chosenAnew("q3 p99:1s..9s p99>2s seed=1", "p99", "p99:2s..3s")).toBe("q3 p99>2s seed=1 p99:2s..3s");
  expect(chosenAnew("no:tag", "tag", "tag=good")).toBe("tag=good");
});

it("writes values so that the server reads the same ones", () => {
  expect(oneOf("state", ["failed", "queued"], false)).toBe("state=failed|queued");
  expect(oneOf("/a/kind", ["map", "5", 5], true)).toBe('/a/kind="map"|"5"|5');
  expect(oneOf("author", ["grace hopper", 'a"b\\c\n'], false)).toBe('author="grace hopper"|"a\\"b\\\\c\\n"');
  expect(oneOf("/x y/z", [1], true)).toBe('"/x y/z"=1');
  expect(oneOf("/a/*", [1], true)).toBe('"/a/*"=1');
  expect(unset("/a/b")).toBe("no:/a/b");
});

it("writes a range in its unit, rounded outwards to what the eye can tell", () => {
  expect(inRange("p99", [1.23456, 7.65432], "ms")).toBe("p99:1.234ms..7.655ms");
  expect(inRange("out", [12345.6, 99999.9], "/s")).toBe("out:12340/s..100000/s");
  expect(inRange("/a/share", [0.1, 0.3], "")).toBe("/a/share:0.1..0.3");
  expect(inRange("seed", [3, 3], "")).toBe("seed:3..3");
  expect(inRange("p99", [-0.5, 2], "ms")).toBe("p99:-0.5ms..2ms");
});

it("loses nothing at the ends of a range", () => {
  const ends: [number, number] = [10.00049, 39.99951];
  const [low, high] = outwards(ends).map(Number) as [number, number];
  expect(low <= ends[0] && high >= ends[1]).toBe(true);
});

it("writes runs by number, those that follow one another as ranges", () => {
  expect(ofNumbers([7, 1, 2, 3, 2])).toBe("number=1..3|7");
  expect(ofNumbers([5, 4])).toBe("number=4..5");
});
