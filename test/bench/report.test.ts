import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Histogram } from "../../bench/load/histogram.ts";
import type { Measurement } from "../../bench/measure/measure.ts";
import { fittedShapes } from "../../bench/parts/fleet.ts";
import type { Facts } from "../../bench/report/facts.ts";
import { failuresOf } from "../../bench/report/failures.ts";
import { linearScale, logScale } from "../../bench/report/plots/scale.ts";
import { pages, sectionsOfParts, withSections } from "../../bench/report/publish.ts";
import { costAtCeiling, rowsOf } from "../../bench/report/rows.ts";
import { sectionsOf } from "../../bench/report/sections/sections.ts";
import { agentRun, measured, peers, slice, seen, wholeFacts } from "./whole-facts.ts";

describe("a result", () => {
  const sections = sectionsOf(wholeFacts());

  test.each(pages)(
    "the sections of a result that $path shows have a place there, and no others",
    ({ path, plots: folder, shows }) => {
      const document = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
      const shown = sections.filter(shows);
      const published = withSections(document, shown, folder);
      for (const { text, plots } of shown) {
        expect(published).toContain(text);
        for (const { name } of plots) expect(published).toContain(`](${folder}/${name}.svg)`);
      }
      expect(withSections(published, shown, folder)).toBe(published);
    },
  );

  test("every section of a result has its place in one page", () => {
    expect(sections.map((section) => pages.filter(({ shows }) => shows(section)).length)).toEqual(sections.map(() => 1));
  });

  test("a run of one part is published with where and when it was made, and says nothing of bars and capacity", () => {
    const { at, command, commit, machine, versions, leftOut, invalid, console } = wholeFacts();
    const parts = sectionsOfParts({ at, command, commit, machine, versions, leftOut, invalid, ...(console && { console }) });
    expect(parts.map(({ name }) => name)).toEqual(["console"]);
    for (const { text } of parts) expect(text).toStartWith("`npm run bench");
  });

  test("a result has a figure in every cell", () => {
    for (const { text, plots } of sections)
      expect(text + plots.map(({ svg }) => svg).join("")).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("publishing is refused when the document has no place for a section", () => {
    expect(() => withSections("<!-- bench:run --><!-- /bench:run -->", sections, "plots")).toThrow("do not fit: goals");
  });

  test("plots are XML, name their axes, and have dark colors", () => {
    const plots = sections.flatMap((section) => section.plots);
    expect(plots.map(({ name }) => name)).toEqual([
      "rate",
      "latency",
      "cost",
      "peers",
      "agent",
      "bodies",
      "features",
      "lateness",
      "memory",
      "lag",
      "console",
    ]);
    for (const { svg } of plots) {
      const opened = [...svg.matchAll(/<([a-z]+)[^>]*?(\/?)>/g)].filter(([, , closed]) => closed === "").map(([, name]) => name);
      const ended = [...svg.matchAll(/<\/([a-z]+)>/g)].map(([, name]) => name);
      expect(opened.toSorted()).toEqual(ended.toSorted());
      expect(svg).toContain("prefers-color-scheme:dark");
      expect(svg).toMatch(/>[^<]*(a second|a request|seconds|MiB|milliseconds)[^<]*<\/text>/);
    }
  });
});

describe("an agent's request", () => {
  test("its bars compare Weir with the bare proxy and with Portkey, on each API", () => {
    const rows = rowsOf(wholeFacts()).filter(({ what }) => /an agent's request|first event/.test(what));
    const shown = rows.map(({ values }) => values.map((value) => value.toFixed(1)));
    expect(shown).toEqual([
      ["0.5", "0.5", "0.5"],
      ["0.5", "0.5", "0.5"],
    ]);
  });

  test("a run with a failed request of Weir is invalid, and one with a failed request of another is not", () => {
    const failing = (name: string): string[] => {
      const agent = {
        ...agentRun(),
        measurements: [{ api: "messages" as const, measurement: measured(name, "32 connections", 2) }],
      };
      return failuresOf({ ...wholeFacts(), agent });
    };
    expect(failing("Portkey")).toEqual([]);
    expect(failing("Weir hot")).toEqual([expect.stringContaining("agent: Weir hot, 32 connections")]);
  });
});

describe("the hot path", () => {
  /** A contender that is slow in its second sweep, like all others. */
  function driftingFacts(): Facts {
    const rates = [
      ["bare proxy", 20_000, 10_000],
      ["Portkey", 1_000, 500],
      ["Weir hot", 5_000, 3_000],
      ["Weir spread", 4_000, 2_000],
    ] as const;
    const hotPath = {
      measurements: rates.flatMap(([name, first, second]) => [
        slice(name, "8 connections", 1, first / 2),
        slice(name, "32 connections", 1, first),
        slice(name, "128 connections", 2, second),
      ]),
      memory: [],
      idle: [],
      ...peers,
    };
    return { ...wholeFacts(), hotPath };
  }

  const valuesOf = (facts: Facts, what: string) => rowsOf(facts).find((row) => row.what.startsWith(what))?.values;

  test("ratios use only the figures of one sweep", () => {
    const facts = driftingFacts();
    expect(valuesOf(facts, "hot: metered req/s ÷ bare")).toEqual([0.25, 0.3]);
    expect(valuesOf(facts, "hot: metered req/s ÷ Portkey")).toEqual([5, 6]);
    expect(valuesOf(facts, "spread: metered req/s ÷ bare")).toEqual([0.2, 0.2]);
    expect(valuesOf(facts, "added p50")).toEqual([]);
  });

  test("the ratio of added latencies uses only the figures of one sweep", () => {
    const p50s = [
      ["direct", 0.1, 0.2],
      ["Portkey", 1.1, 2.2],
      ["Weir hot", 0.9, 1.2],
    ] as const;
    const of = (name: string, sweep: number, p50: number): Measurement => {
      const one = slice(name, "1 connections", sweep);
      const summary = new Histogram();
      summary.add(p50);
      return { ...one, result: { ...one.result, latencyMs: summary.summary() } };
    };
    const measurements = p50s.flatMap(([name, first, second]) => [of(name, 1, first), of(name, 2, second)]);
    const values = valuesOf({ ...wholeFacts(), hotPath: { measurements, memory: [], idle: [], ...peers } }, "added p50");
    expect(values?.map((value) => value.toFixed(2))).toEqual(["0.80", "0.50"]);
  });

  test("the cost is the average of all slices at the best number of connections, weighted by their requests", () => {
    const few = slice("Weir hot", "8 connections", 1, 900);
    const many = [100, 300].map((endedInAll, n) => {
      const one = slice("Weir hot", "32 connections", n + 1);
      return { ...one, result: { ...one.result, endedInAll }, cpuPer1000: { gateway: endedInAll / 1_000 } };
    });
    expect(costAtCeiling([few, ...many], "Weir hot")).toEqual({
      contender: "Weir hot",
      cpuPer1000: { gateway: expect.closeTo(0.25) },
    });
    expect(costAtCeiling([few], "Portkey")).toBeNull();
  });

  test("the report shows the CPU use of idle contenders, by process", () => {
    const { text = "" } = sectionsOf(wholeFacts()).find(({ name }) => name === "hot-path") ?? {};
    expect(text).toContain("While idle, in % of a core: bare proxy 0; Weir 1.5 (gateway 1, postgres 0.5).");
    expect(text).toContain("until the ledger was complete: Weir hot 0.1 s, at most 0.1 s; Weir spread 0.1 s, at most 0.1 s.");
  });
});

describe("a run is invalid", () => {
  test("when a request of Weir failed, in any part", () => {
    const facts = wholeFacts();
    expect(failuresOf(facts)).toEqual([]);
    const failing = { ...measured("Weir hot", "8 connections", 1), sweep: 3 };
    facts.hotPath?.measurements.push(failing, measured("Portkey", "8 connections", 5));
    facts.fleet?.hot?.push({ shape: fittedShapes[0], measurement: measured("Weir hot", "fleet", 2) });
    expect(failuresOf(facts)).toEqual([
      'hot-path: Weir hot, 8 connections, round 1, sweep 3: 1 failed {"internal_error":1}',
      'fleet: Weir hot, fleet, round 1: 2 failed {"internal_error":2}',
    ]);
  });

  test("when the catalog gave an unexpected answer", () => {
    const facts = wholeFacts();
    facts.catalog = { cases: [{ name: "304", bytes: 9, latencyMs: null, failed: 3 }] };
    expect(failuresOf(facts)).toEqual(["catalog, 304: 3 failed"]);
  });

  test("when a page of the Console did not answer, or has no address", () => {
    const facts = wholeFacts();
    facts.console?.pages.push(seen("/spend", 500));
    facts.console?.missing.push("/new/:id");
    expect(failuresOf(facts)).toEqual([
      "console: bench/console/samples.ts has no parameter for /new/:id",
      'console, admin at /spend: {"500":300}',
    ]);
  });

  test("when a soak did not reach its rate", () => {
    const facts = wholeFacts();
    const late = new Histogram();
    late.add(900);
    if (facts.soak) facts.soak.result.sendLatenessMs = late.summary();
    expect(failuresOf(facts)).toEqual(["soak: 800 /s were not reached: requests waited for a connection"]);
  });
});

describe("an axis", () => {
  test("a linear axis ends at a round number", () => {
    expect(linearScale(487, { from: 0, to: 100 }).ticks).toEqual([0, 200, 400, 600]);
    expect(linearScale(0.9, { from: 0, to: 100 }).ticks).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });

  test("a logarithmic axis begins and ends at its values", () => {
    const { ticks, place } = logScale([0.3, 40], { from: 0, to: 100 });
    expect(ticks).toEqual([0.2, 0.5, 1, 2, 5, 10, 20, 50]);
    expect([place(0.2), place(50)]).toEqual([0, 100]);
  });
});
