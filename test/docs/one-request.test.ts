/** docs/explanation/one-request.md names modules that exist, in an order in which they call each other. */
import { describe, expect, test } from "bun:test";
import { posix } from "node:path";
import { importsOf, readSourceTree } from "../architecture/source-tree.ts";
import { repository } from "../support/processes/process.ts";
import { readPage } from "./pages.ts";

/** Where each kind of process begins. */
const entries: Record<string, string> = {
  gateway: "src/main.ts",
  admission: "workers/admission.ts",
  metering: "workers/metering.ts",
};
/** A caller gets some parts from outside, so that its own imports have only their types: one module may stand between the two. */
const importsMax = 2;

const tree = readSourceTree(repository);
const { text } = readPage("explanation/one-request.md");
const rows = [...text.matchAll(/^\| (\w+) +\| `([^`]+)` +\|(.*)$/gm)].map(([, process = "", module = "", rest = ""]) => ({
  process,
  module,
  rest,
}));

const imports = new Map([...tree.files].map(([path, source]) => [path, importsOf(path, source).map(({ to }) => to)]));

describe("docs/explanation/one-request.md", () => {
  test("has a row for each leg of the way", () => {
    expect([...new Set(rows.map(({ process }) => process))]).toEqual(Object.keys(entries));
    expect(rows.length).toBeGreaterThan(20);
  });

  test("names modules that exist", () => {
    const named = [...text.matchAll(/`((?:src|workers)\/[^`]+)`/g)].map(([, path = ""]) => path);
    expect(named.filter((path) => !tree.has(path))).toEqual([]);
    const near = rows.flatMap(({ module, rest }) =>
      [...rest.matchAll(/`(?!src\/)([^`]+\.ts)`/g)].map(([, name = ""]) => ({ module, name })),
    );
    expect(near.filter(({ module, name }) => !isNear(module, name))).toEqual([]);
  });

  test("names modules that their process loads", () => {
    const lost = rows.filter(({ process, module }) => !reachable(entries[process] ?? "", Infinity).has(module));
    expect(lost.map(({ process, module }) => `${process} does not load ${module}`)).toEqual([]);
  });

  test("names modules that the ones before them call", () => {
    const lost = rows.filter(({ process, module }, index) => {
      const before = rows.slice(0, index).filter((row) => row.process === process);
      return before.length > 0 && !before.some((row) => areLinked(row.module, module));
    });
    expect(lost.map(({ module }) => `${module} has no import in common with a row above it`)).toEqual([]);
  });
});

test("the last check finds a module that is called elsewhere", () => {
  expect(areLinked("src/gateway/api/pipeline.ts", "src/gateway/admission/client.ts")).toBe(true);
  expect(areLinked("src/gateway/api/pipeline.ts", "src/gateway/metering/store.ts")).toBe(false);
});

/** A name without its folder is in the module's folder or in one around it. */
function isNear(module: string, name: string): boolean {
  const folder = posix.dirname(module);
  return tree.has(posix.join(folder, name)) || tree.has(posix.join(posix.dirname(folder), name));
}

/** An engine imports its port, and all others what they call. */
function areLinked(one: string, other: string): boolean {
  return reachable(one, importsMax).has(other) || reachable(other, importsMax).has(one);
}

/** @returns what `from` imports over at most `max` steps */
function reachable(from: string, max: number): Set<string> {
  const found = new Set([from]);
  let last = [from];
  for (let step = 0; step < max && last.length > 0; step++) {
    last = last.flatMap((path) => imports.get(path) ?? []).filter((path) => !found.has(path));
    for (const path of last) found.add(path);
  }
  return found;
}
