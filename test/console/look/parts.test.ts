/** The Console's parts as text; test/browser/console covers what a person does with them. */
import { describe, expect, test } from "bun:test";
import { type Chart, chart, meter, drawnSeries, roundedTop } from "../../../src/console/look/charts.ts";
import { limitMeter, type SpendLimit } from "../../../src/console/look/limit-meter.ts";
import { filterForm, form } from "../../../src/console/look/forms.ts";
import { consoleScript, consoleStyle, consoleHeaders, plainPage } from "../../../src/console/look/frame.ts";
import {
  type Column,
  day,
  exactUsd,
  money,
  roundedUsd,
  shortDay,
  time,
  userText,
  table,
} from "../../../src/console/look/parts.ts";
import { assetRoutes } from "../../../src/http/assets.ts";
import { monogram } from "../../../src/http/monogram.ts";
import { markup } from "../../../src/http/html.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { fields, hostile } from "./gallery-contents.ts";
import { createdPage, galleryPage, keysPage } from "./gallery.ts";

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

describe("every page", () => {
  const pages = [keysPage(), galleryPage(), createdPage(), plainPage({ title: "Sign in", main: markup`<p>…</p>` }, "/console")];

  test("has no attribute that its policy forbids: no style, no handler", () => {
    for (const text of pages) {
      const tags = text.match(/<[a-z][^>]*>/g) ?? [];
      expect(tags.map((tag) => tag.replaceAll(/"[^"]*"/g, "")).filter((tag) => / (style|on\w+)=/.test(tag))).toEqual([]);
    }
  });

  test("shows text that was written to harm as text", () => {
    for (const words of hostile.slice(0, 2)) expect(pages[1]).not.toContain(words);
    expect(count(pages[1] ?? "", /<script[ >]/g)).toBe(1);
  });

  test("has each id once", () => {
    for (const text of pages) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    }
  });

  test("loads less than 18 kB of style and 16 kB of script, once, and is not stored", async () => {
    const [style, script] = [consoleStyle, consoleScript].map(({ element }) => sent(String(element), "gzip"));
    expect((await style)?.length).toBeLessThan(18_000);
    expect((await script)?.length).toBeLessThan(16_000);
    expect(consoleHeaders()["cache-control"]).toBe("no-store");
  });

  test("has a pair of each colour, and asks nowhere for the system's theme, so that a chosen one holds for all of it", async () => {
    const sheet = new TextDecoder().decode(await sent(String(consoleStyle.element), "identity"));
    expect(sheet).not.toContain("prefers-color-scheme");
    expect(sheet).toContain('[data-theme="dark"]');
  });
});

/** What goes over the wire for the file that an element loads. */
async function sent(element: string, encoding: "gzip" | "identity"): Promise<Uint8Array> {
  const [, path = ""] = /(?:href|src)="([^"]+)"/.exec(element) ?? [];
  const request = new Request(`http://localhost${path}`, { headers: { "accept-encoding": encoding } });
  return (await assetRoutes(systemClock).handle(request)).bytes();
}

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
  expect(text).toContain('<th role="rowheader" scope="row" class="of-text"><bdi>&#60;b&#62;</bdi></th>');
  expect(text).toContain('<td role="cell" class="of-text lacks" data-label="Note"><span');
  expect(table({ caption: "Names", columns, rows: [], empty })).toBe(empty);
});

test("a cell has an element more only where its contents need one", () => {
  const cells = (column: Partial<Column<null>> & Pick<Column<null>, "cell">): string => {
    const columns: Column<null>[] = [
      { label: "Name", kind: "text", cell: () => "a" },
      { label: "B", kind: "number", ...column },
    ];
    const text = String(table({ caption: "Names", columns, rows: [null], empty: markup`` }));
    return /data-label="B">(.*?)<\/td>/.exec(text)?.[1] ?? "";
  };
  expect(cells({ cell: () => "1 <b" })).toBe("1 &#60;b");
  expect(cells({ cell: () => 12 })).toBe("12");
  expect(cells({ kind: "actions", cell: () => markup`` })).toBe("");
  expect(cells({ kind: "money", cell: () => markup`<data>$1</data>` })).toBe("<data>$1</data>");
  expect(cells({ kind: "text", cell: () => "mira" })).toBe("<bdi>mira</bdi>");
  expect(cells({ kind: "badge", cell: () => "on" })).toBe("<bdi>on</bdi>");
  expect(cells({ kind: "text", inOneLine: true, cell: () => "x".repeat(21) })).toStartWith('<bdi class="line long">x');
  expect(cells({ kind: "text", cell: () => markup`<b>one</b> two` })).toBe("<div><b>one</b> two</div>");
  expect(cells({ kind: "actions", cell: () => markup`<button>Go</button>` })).toBe("<div><button>Go</button></div>");
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
  const periods = ["2026-11-01", "2026-11-02"].map((date) => ({
    name: day(date),
    short: shortDay(date),
    path: `/requests?from=${date}`,
  }));
  const series = Array.from({ length: 9 }, (_, index) => ({
    label: `key ${index}`,
    values: [BigInt(index + 1), 1_000_000_000n * BigInt(index)],
  }));
  const all = series.reduce((sum, { values }) => sum + values.reduce((one, other) => one + other, 0n), 0n);
  const empty = markup`<p>Nothing was spent</p>`;
  const drawn = (given: Partial<Chart>): string => {
    const usual = {
      id: "c",
      title: "Spend",
      periodName: "Day (Asia/Kathmandu)",
      shape: "bars",
      periods,
      words: roundedUsd,
      empty,
    } as const;
    return String(chart({ ...usual, series: [{ label: "a", values: [1n, 4n] }], exact: money, ...given }));
  };
  const pathsOf = (text: string, kind: string) =>
    [...text.matchAll(new RegExp(`<path class="${kind}" d="([^"]*)"`, "g"))].map(([, d = ""]) => d);

  test("draws the six largest series and the rest as one, and loses no nano-dollar", () => {
    const shown = drawnSeries(series);
    expect(shown.map(({ label }) => label)).toEqual(["key 8", "key 7", "key 6", "key 5", "key 4", "key 3", "3 others"]);
    expect(shown.flatMap(({ values }) => values).reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n)).toBe(all);
  });

  test("has its numbers as a table, with the same sum, the newest first, and each period leads to what is behind it", () => {
    const sums = { label: "Total", values: [45n, 36_000_000_000n] };
    const text = drawn({ series, sums });
    expect(text).toContain(`title="${formatUsd(all)} USD"`);
    expect(text).toContain("Day (Asia/Kathmandu)");
    expect(text).toContain("<title>2 Nov 2026: $36.00</title>");
    expect(count(text, /href="\/requests\?from=2026-11-02"/g)).toBe(2);
    const rows = [...text.matchAll(/<tr role="row"><th role="rowheader".*?<\/tr>/g)].map(([row]) => row);
    const slots = [...text.matchAll(/data-row="(\d)" href="\/requests\?from=([^"]*)"/g)].map(
      ([, row = "", date = ""]) => [Number(row), date] as const,
    );
    expect(slots).toHaveLength(2);
    for (const [row, date] of slots) expect(rows[row]).toContain(date);
    // A nano-dollar beside eight dollars is a pixel high.
    expect(pathsOf(text, "series-0")[0]).toMatch(/v1h/);
  });

  test("draws what is expected only where nothing has begun, and leaves it out of the table and its sums", () => {
    const future = [...periods, { name: "3 Nov 2026", short: "3 Nov", path: null, isFuture: true }];
    const values = [1_000_000_000n, 4_000_000_000n, 0n];
    const text = drawn({ periods: future, series: [{ label: "a", values }], forecast: [null, null, 5_000_000_000n] });
    expect(pathsOf(text, "forecast")[0]?.match(/M/g)).toHaveLength(1);
    expect(text).toContain("<title>3 Nov 2026, expected: $5.00</title>");
    expect(count(text, /<th role="rowheader"/g)).toBe(3);
    expect(text.slice(text.indexOf("<tfoot"))).toContain('title="5.000000000 USD"');
  });

  test("draws a limit that is near, and not one that would press the values to the ground", () => {
    const label = "Limit $0.00000001 a day";
    expect(drawn({ limit: { value: 10n, label } })).toContain(label);
    expect(pathsOf(drawn({ limit: { value: 10n, label } }), "limit")).toHaveLength(1);
    expect(drawn({ limit: { value: 1_000n, label } })).not.toContain(label);
  });

  test("draws the period before below the bars, also where it was longer, and has it in the table", () => {
    const text = drawn({ before: { label: "Before", values: [8n, 2n, 7n], total: 17n } });
    expect(pathsOf(text, "before")[0]?.match(/M/g)).toHaveLength(2);
    expect(text).toContain('title="0.000000017 USD"');
    expect(text.indexOf('<path class="before"')).toBeLessThan(text.indexOf('<path class="series-0"'));
  });

  test("breaks its lines where there is no value, and shows a lone value as a dot", () => {
    const days = Array.from({ length: 5 }, (_, index) => ({ name: `${index}`, short: `${index}`, path: null }));
    const values = [5n, null, 7n, 8n, null];
    const text = drawn({
      shape: "lines",
      periods: days,
      series: [{ label: "p50", values, total: 7n }],
      words: (value) => `${value} ms`,
      exact: String,
    });
    expect(pathsOf(text, "line line-0")[0]).toMatch(/^M100 [\d.]+h0M500 [\d.]+h0L700 [\d.]+$/);
    expect(text).toContain("<title>1: p50 –</title>");
    expect(text.slice(text.indexOf("<tfoot"))).toContain(">7<");
  });

  test("has the exact values of its lines at the scale, however small, with the half as half of the top", () => {
    const text = drawn({ series: [{ label: "a", values: [0n, 147_000n] }], scaleWords: exactUsd });
    const labels = [...text.matchAll(/text-anchor="end">(\$[^<]*)</g)].map(([, label]) => label);
    expect(labels).toEqual(["$0.00016", "$0.00008"]);
    expect([1_600_000_000_000n, 12_500_000_000n].map(exactUsd)).toEqual(["$1,600.00", "$12.50"]);
  });

  test("without values is its empty state", () => {
    expect(drawn({ series: [{ label: "a", values: [0n, 0n] }] })).toBe(String(empty));
    expect(drawn({ periods: [], series: [] })).toBe(String(empty));
    expect(drawn({ shape: "lines", series: [{ label: "a", values: [null, null] }] })).toBe(String(empty));
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

describe("a spend limit", () => {
  const shown = (parts: Partial<SpendLimit>): string =>
    String(limitMeter({ limit: "1.000000000", spent: "0.500000000", reserved: "0.250000000", left: "0.250000000", ...parts }));

  test("says what is spent, reserved and left, and draws what is reserved behind what is spent", () => {
    const text = shown({});
    expect(
      text
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    ).toBe("$0.50 of $1.00 $0.25 reserved, $0.25 left");
    expect(text).toMatch(/class="reserved" width="75%".*class="used" width="50%"/);
  });

  test("needs attention by what is spent and reserved together", () => {
    const tone = (parts: Partial<SpendLimit>) => /class="meter (\w+)"/.exec(shown(parts))?.[1];
    expect([tone({}), tone({ reserved: "0.300000000" }), tone({ reserved: "0.500000000" })]).toEqual(["good", "warn", "bad"]);
  });

  test("says that it does not know what is reserved, and draws only what is spent", () => {
    const text = shown({ reserved: null, left: null });
    expect([text.includes("not known at present"), text.includes('class="reserved"')]).toEqual([true, false]);
  });

  test("spends no words on what is reserved while no request is open", () => {
    const text = shown({ reserved: "0.000000000", left: "0.500000000" });
    expect([text.includes("reserved,"), text.includes("left")]).toEqual([false, true]);
  });

  test("that is not set shows no bar, and what is reserved only if something is", () => {
    expect(shown({ limit: null, left: null })).toContain("reserved");
    expect(shown({ limit: null, left: null })).not.toContain("<svg");
    expect(shown({ limit: null, left: null, reserved: "0.000000000" })).not.toContain("reserved");
  });
});

test("a name has the same mark everywhere, made of its own letters", () => {
  const letters = (name: string): string => />([^<]*)<\/text>/.exec(String(monogram(name)))?.[1] ?? "";
  expect(["Google Cloud", "okta", "", "👩‍🚀 x", "3M"].map(letters)).toEqual(["GC", "Ok", "?", "X", "3M"]);
  expect(String(monogram("okta"))).toBe(String(monogram("okta")));
});
