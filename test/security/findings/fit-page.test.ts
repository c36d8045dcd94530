/** The size of a page: whatever its texts are, no row is lost, and no text is cut without need. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitPage, type Shorten } from "../../../src/security/findings/fit-page.ts";
import { blockedMsMax } from "../../hostile/blocking/thread-time.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

interface Item {
  id: number;
  name: string;
  copy: string;
  text: string | null;
}

const view = ({ id, name, copy, text }: Item, shorten: Shorten) => ({
  id,
  name: shorten(name, "name"),
  copy: shorten(copy, "repeated"),
  text: shorten(text),
});
const bytesOf = (rows: unknown) => Buffer.byteLength(JSON.stringify(rows));
const texts = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.integer({ min: 0, max: 4_000 }).map((length) => "m".repeat(length)),
);
const items = fc.array(fc.record({ id: fc.nat(), name: texts, copy: texts, text: fc.option(texts) }), { maxLength: 60 });

describe("a page", () => {
  test("has every row once in its order, whole or cut with an ellipsis, and a size that depends on its rows alone", () => {
    const run = fc.property(items, fc.integer({ min: 0, max: 40_000 }), (all, bytesMax) => {
      const { rows, cut } = fitPage({ items: all, bytesMax, isShortened: false }, view);
      expect(rows.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      const whole = all.map((item) => view(item, ((one: string) => one) as Shorten));
      if (bytesOf(whole) + 1 <= bytesMax) expect(rows).toEqual(whole);
      for (const [index, row] of rows.entries()) {
        expect(Object.values(row).every((one) => typeof one !== "string" || !one.includes("…") || one.isWellFormed())).toBe(true);
        for (const field of ["name", "copy", "text"] as const) {
          const [shown, given] = [row[field], whole[index]?.[field] ?? null];
          if (shown !== given) expect([shown?.includes("…"), cut]).toEqual([true, true]);
        }
        expect(bytesOf(row)).toBeLessThan(Math.max(bytesMax, 2_000));
      }
    });
    fc.assert(run, { numRuns: 150 });
  });

  test("walked by any limit over HTTP, and by what MCP's short pages say, shows every row once", () => {
    const run = fc.property(
      items,
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 0, max: 20_000 }),
      (all, limit, bytesMax) => {
        const numbered = all.map((item, id) => ({ ...item, id }));
        const page = (offset: number, isShortened: boolean) =>
          fitPage({ items: numbered.slice(offset, offset + limit), bytesMax, isShortened }, view).rows.map(({ id }) => id);
        const overHttp: number[] = [];
        for (let offset = 0; offset < numbered.length; offset += limit) overHttp.push(...page(offset, false));
        const overMcp: number[] = [];
        while (overMcp.length < numbered.length) overMcp.push(...page(overMcp.length, true));
        expect([overHttp, overMcp]).toEqual([numbered.map(({ id }) => id), numbered.map(({ id }) => id)]);
      },
    );
    fc.assert(run, { numRuns: 100 });
  });

  test("cuts ends of texts that explain, then the middles of repeated names if that is enough, then names above 512 bytes", () => {
    const item = { id: 1, name: "n".repeat(600), copy: `a${"b".repeat(98)}c`, text: "t".repeat(100) };
    const fit = (bytesMax: number) => fitPage({ items: [item], bytesMax, isShortened: false }, view).rows[0];
    const whole = bytesOf([item]);
    expect(fit(whole)).toEqual(item);
    expect(fit(whole - 50)).toEqual({ ...item, text: expect.stringMatching(/^t{46,48}…$/) });
    expect(fit(whole - 130)).toEqual({ ...item, text: "…", copy: expect.stringMatching(/^ab+…b+c$/) });
    expect(fit(whole - 170)).toEqual({ ...item, text: "…", name: expect.stringMatching(/^n{255,266}…n{255,266}$/) });
    expect(fit(0)).toEqual({ ...item, text: "…", name: expect.stringMatching(/^n{254}…n{254}$/) });
  });

  test.each(["x", "日", "😀", "\u0001"])("of 200 rows with names of thousands of %j does not block the thread", (letter) => {
    const all = Array.from({ length: 200 }, (_, id) => ({
      id,
      name: letter.repeat(4_000),
      copy: letter.repeat(1_024),
      text: letter.repeat(200),
    }));
    for (const isShortened of [false, true]) {
      const fit = () => fitPage({ items: all, bytesMax: 124_000, isShortened }, view);
      expect(threadMs(() => expect(fit().cut).toBe(true), blockedMsMax)).toBeLessThan(blockedMsMax);
    }
  });
});
