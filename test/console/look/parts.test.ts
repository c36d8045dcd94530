/** The Console's parts as text; test/browser/console covers what a person does with them. */
import { describe, expect, test } from "bun:test";
import { barChart, meter, drawnSeries, roundedTop } from "../../../src/console/look/charts.ts";
import { filterForm, form } from "../../../src/console/look/forms.ts";
import { consoleScript, consoleStyle, consoleHeaders, plainPage } from "../../../src/console/look/frame.ts";
import { exactUsd, money, roundedUsd, time, userText, table } from "../../../src/console/look/parts.ts";
import { monogram } from "../../../src/http/monogram.ts";
import { markup } from "../../../src/http/html.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { fields, hostile } from "./gallery-contents.ts";
import { createdPage, galleryPage, keysPage } from "./gallery.ts";

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

describe("every page", () => {
  const pages = [keysPage(), galleryPage(), createdPage(), plainPage({ title: "Sign in", main: markup`<p>…</p>` }, "/console")];

  test("has no attribute that its policy forbids: no style, no handler", () => {
    for (const text of pages) {
      const tags = text.replaceAll(/<(style|script)>[^]*?<\/\1>/g, "").match(/<[a-z][^>]*>/g) ?? [];
      expect(tags.map((tag) => tag.replaceAll(/"[^"]*"/g, "")).filter((tag) => / (style|on\w+)=/.test(tag))).toEqual([]);
    }
  });

  test("shows text that was written to harm as text", () => {
    for (const words of hostile.slice(0, 2)) expect(pages[1]).not.toContain(words);
    expect(count(pages[1] ?? "", /<script>/g)).toBe(1);
  });

  test("has each id once", () => {
    for (const text of pages) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    }
  });

  test("carries less than 32 kB of style and 10 kB of script, and is not stored", () => {
    expect(String(consoleStyle.element).length).toBeLessThan(32_000);
    expect(String(consoleScript.element).length).toBeLessThan(10_000);
    expect(consoleHeaders()["cache-control"]).toBe("no-store");
  });
});

describe("money", () => {
  test.each([
    ["0", "$0.00"],
    ["1234.5", "$1,234.50"],
    ["1234.995", "$1,235.00"],
    ["0.0123", "$0.0123"],
    ["0.99999", "$1.00"],
    ["0.25", "$0.25"],
    ["0.0001", "$0.0001"],
    ["0.000012300", "$0.0000123"],
    ["0.000000001", "$0.000000001"],
    ["-3.5", "−$3.50"],
  ])("of %s USD is read as %s", (usd, shown) => {
    expect(roundedUsd(parseUsd(usd))).toBe(shown);
  });

  test("keeps its nine decimals in the title", () => {
    expect(String(money("1234.5"))).toContain('value="1234.500000000" title="1234.500000000 USD"');
    expect(String(money(null))).toContain("no limit");
  });
});

test("a time is shown in UTC without a script", () => {
  expect(String(time("2026-11-04T23:59:07.123Z"))).toBe(
    '<time datetime="2026-11-04T23:59:07.123Z" title="2026-11-04 23:59:07 UTC" data-local="minutes">4 Nov 2026, 23:59 UTC</time>',
  );
  expect(String(time(null))).toContain("never");
});

test("a long address breaks after its marks, and a longer piece anywhere", () => {
  expect(String(userText("mira@example.org"))).toBe("<bdi>mira@example.org</bdi>");
  expect(String(userText("mira.lindqvist@example.org"))).toBe("<bdi>mira.lindqvist@<wbr />example.org</bdi>");
  expect(String(userText("x".repeat(21)))).toStartWith('<bdi class="long">');
});

test("a table has the roles that browsers drop, the label of each cell, and its empty state without rows", () => {
  const columns = [
    { label: "Name", kind: "text" as const, cell: (row: { name: string }) => row.name },
    { label: "Note", kind: "text" as const, cell: () => null },
  ];
  const empty = markup`<p>There is none yet</p>`;
  const text = String(table({ caption: "Names", columns, rows: [{ name: "<b>" }], empty }));
  expect(text).toContain('<th role="rowheader" scope="row" class="of-text"><div><bdi>&#60;b&#62;</bdi></div></th>');
  expect(text).toContain('<td role="cell" class="of-text" data-label="Note">');
  expect(table({ caption: "Names", columns, rows: [], empty })).toBe(empty);
});

test("more than two filters fold behind a button that counts those that are set", () => {
  const filter = (name: string, value = "") => ({ name, label: name, value, kind: "text" as const });
  const two = [filter("q"), filter("owner")];
  expect(String(filterForm({ path: "/keys", filters: two }))).not.toContain("<details");
  const three = String(filterForm({ path: "/keys", filters: [...two, filter("model", "a")] }));
  expect(three).toMatch(/<details class="folds"><summary class="button quiet">Filters \(1\)<\/summary><form class="filters"/);
});

test("removing a filter keeps the others and the tab, and begins at the first rows", () => {
  const filter = (name: string, value: string) => ({ name, label: name, value, kind: "text" as const });
  const text = String(
    filterForm({
      path: "/keys",
      kept: { tab: "revoked" },
      filters: [filter("q", "a&b"), filter("owner", "mira"), filter("model", "")],
    }),
  );
  const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, link]) => link?.replaceAll("&#38;", "&"));
  expect(links).toEqual(["/keys?tab=revoked&owner=mira", "/keys?tab=revoked&q=a%26b", "/keys?tab=revoked"]);
  expect(text).toContain('<input type="hidden" name="tab" value="revoked" />');
});

describe("a refused form", () => {
  const refused = (field: string | null): string =>
    String(
      form({
        id: "f",
        action: "/keys",
        fields,
        submit: "Save",
        state: {
          values: { name: "Typed", note: "\nline", kind: "tools", stored: "true", password: "hunter2" },
          problem: { field, message: "It is wrong" },
        },
      }),
    );

  test("keeps what was typed, except a password", () => {
    const text = refused("name");
    expect(text).toContain('value="Typed"');
    expect(text).toMatch(/<option value="tools" selected>/);
    expect(text).toMatch(/value="true"[^>]* checked/);
    expect(text).not.toContain("hunter2");
  });

  test("keeps the line break that a text begins with", () => {
    expect(/<textarea[^>]*>\n([^<]*)</.exec(refused(null))?.[1]).toBe("\nline");
  });

  test.each([
    [
      'Cannot take "" as limit: a decimal number of USD with at most 2 decimals is needed.',
      "Enter an amount in USD with at most 2 decimals, such as 25.00.",
    ],
    ['Cannot take "a: b is needed." as limit: an amount above zero is needed.', "Enter an amount above zero."],
    ['Cannot take the value of "rpm": a whole number from 1 to 9 is needed.', "Enter a whole number from 1 to 9."],
    ["There is no key with the rate_limit.", "There is no key with the limit."],
  ])("says of %p what to enter: %p", (message, words) => {
    const limit = { kind: "money" as const, name: "rate_limit", label: "Limit" };
    const state = { values: {}, problem: { field: "rate_limit", message } };
    const text = String(form({ id: "f", action: "/keys", fields: [limit], submit: "Save", state }));
    expect(/<p class="problem"[^>]*><bdi>([^<]*)/.exec(text)?.[1]).toBe(words);
  });

  test("says what is wrong beside the named field, and above a form that lacks it", () => {
    expect(refused("name")).toMatch(/id="f-name" name="name" aria-describedby="f-name-hint f-name-problem" aria-invalid="true"/);
    expect(count(refused("name"), /It is wrong/g)).toBe(1);
    for (const field of ["owner", null]) {
      expect(refused(field)).toMatch(/role="alert"><bdi>It is wrong/);
      expect(refused(field)).not.toContain("aria-invalid");
    }
  });
});

describe("a chart", () => {
  const days = ["2026-11-01", "2026-11-02"];
  const series = Array.from({ length: 9 }, (_, index) => ({
    label: `key ${index}`,
    values: [BigInt(index + 1), 1_000_000_000n * BigInt(index)],
  }));
  const all = series.reduce((sum, { values }) => sum + values.reduce((one, other) => one + other, 0n), 0n);

  test("draws the six largest series and the rest as one, and loses no nano-dollar", () => {
    const drawn = drawnSeries(series);
    expect(drawn.map(({ label }) => label)).toEqual(["key 8", "key 7", "key 6", "key 5", "key 4", "key 3", "3 others"]);
    expect(drawn.flatMap(({ values }) => values).reduce((sum, value) => sum + value, 0n)).toBe(all);
  });

  test("has its numbers as a table, with the same sum", () => {
    const text = String(
      barChart({
        id: "c",
        title: "Spend",
        days,
        zone: "Asia/Kathmandu",
        series,
        words: roundedUsd,
        exact: money,
        empty: markup``,
      }),
    );
    expect(text).toContain(`title="${formatUsd(all)} USD"`);
    expect(text).toContain("Day (Asia/Kathmandu)");
    expect(text).toContain("<title>2 Nov 2026, key 8: $8.00</title>");
    // A nano-dollar beside eight dollars is a pixel high.
    expect(text).toMatch(/key 8: \$0\.000000009<\/title>\s*<rect [^>]*height="1\.00"/);
  });

  test("has the exact values of its lines at the scale, however small, with the half as half of the top", () => {
    const values = [0n, 147_000n];
    const scaled = { words: roundedUsd, scaleWords: exactUsd, empty: markup`` };
    const text = String(barChart({ id: "c", title: "Spend", days, zone: "UTC", series: [{ label: "a", values }], ...scaled }));
    const labels = [...text.matchAll(/text-anchor="end">(\$[^<]*)</g)].map(([, label]) => label);
    expect(labels).toEqual(["$0.00016", "$0.00008"]);
    expect([1_600_000_000_000n, 12_500_000_000n].map(exactUsd)).toEqual(["$1,600.00", "$12.50"]);
  });

  test("without values is its empty state", () => {
    const empty = markup`<p>Nothing was spent</p>`;
    expect(
      barChart({ id: "c", title: "Spend", days, zone: "UTC", series: [{ label: "a", values: [0n, 0n] }], words: String, empty }),
    ).toBe(empty);
    expect(barChart({ id: "c", title: "Spend", days: [], zone: "UTC", series: [], words: String, empty })).toBe(empty);
  });

  test.each([
    [1n, 1n],
    [3n, 4n],
    [10n, 10n],
    [21n, 24n],
    [26n, 30n],
    [51n, 60n],
    [123_456n, 160_000n],
  ])("whose highest value is %d ends at %d", (highest, top) => {
    expect(roundedTop(highest)).toBe(top);
  });
});

test.each([
  [0n, 100n, "good", "0%"],
  [1n, 1_000_000n, "good", "1%"],
  [79n, 100n, "good", "79%"],
  [80n, 100n, "warn", "80%"],
  [150n, 100n, "bad", "100%"],
  [0n, 0n, "bad", "100%"],
])("a meter of %d of %d is %s and %s long", (used, of, tone, width) => {
  const text = String(meter({ used, of, words: "…" }));
  expect([text.includes(`class="meter ${tone}"`), text.includes(`class="used" width="${width}"`)]).toEqual([true, true]);
});

test("a name has the same mark everywhere, made of its own letters", () => {
  const letters = (name: string): string => />([^<]*)<\/text>/.exec(String(monogram(name)))?.[1] ?? "";
  expect(["Google Cloud", "okta", "", "👩‍🚀 x", "3M"].map(letters)).toEqual(["GC", "Ok", "?", "X", "3M"]);
  expect(String(monogram("okta"))).toBe(String(monogram("okta")));
});
