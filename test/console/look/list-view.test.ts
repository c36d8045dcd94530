/** A list that a reader arranges: its order and its columns come from the address, and every link keeps the rest of it. */
import { describe, expect, test } from "bun:test";
import { arrangedList, type ListColumn } from "../../../src/console/look/list-view.ts";
import { markup } from "../../../src/http/html.ts";

interface Row {
  name: string;
  spent: bigint;
  used: string | null;
}

const rows: Row[] = [
  { name: "key 10", spent: 5n, used: "2026-11-02T00:00:00Z" },
  { name: "Key 9", spent: 12n, used: null },
  { name: "key 1", spent: 7n, used: "2026-11-01T00:00:00Z" },
];

const columns: ListColumn<Row>[] = [
  { name: "name", label: "Name", kind: "text", cell: ({ name }) => name, by: ({ name }) => name },
  { name: "spent", label: "Spent", kind: "money", cell: ({ spent }) => String(spent), by: ({ spent }) => spent },
  { name: "used", label: "Last used", kind: "time", cell: ({ used }) => used, by: ({ used }) => used },
  { name: "note", label: "Note", kind: "text", cell: () => "a note", isExtra: true },
  { label: "Actions", kind: "actions", cell: () => "act" },
];

function shown(query: string, { isWhole = true, of = rows }: { isWhole?: boolean; of?: Row[] } = {}) {
  const place = { path: "/keys", query: new URLSearchParams(query) };
  const list = { caption: "Keys", columns, rows: of, empty: markup`<p>None</p>`, isWhole, order: "in order of creation" };
  const { table, view, kept } = arrangedList(list, place);
  const text = String(table);
  const plain = (words: string | undefined): string | undefined => words?.replaceAll("&#38;", "&");
  return {
    names: [...text.matchAll(/<th role="rowheader"[^>]*><bdi>([^<]*)/g)].map(([, name]) => name),
    heads: [...text.matchAll(/<th role="columnheader"[^>]*>(?:<a [^>]*>|<span[^>]*>)?([^<]*)/g)].map(([, label]) => label),
    links: [...text.matchAll(/<th role="columnheader"[^>]*><a href="([^"]*)"/g)].map(([, link]) => plain(link)),
    text,
    view: view === null ? null : plain(String(view)),
    kept,
  };
}

describe("the order", () => {
  test.each([
    ["", ["key 10", "Key 9", "key 1"]],
    ["sort=name", ["key 1", "Key 9", "key 10"]],
    ["sort=-name", ["key 10", "Key 9", "key 1"]],
    ["sort=-spent", ["Key 9", "key 1", "key 10"]],
    ["sort=used", ["key 1", "key 10", "Key 9"]],
    ["sort=-used", ["key 10", "key 1", "Key 9"]],
    ["sort=note", ["key 10", "Key 9", "key 1"]],
    ["sort=__proto__", ["key 10", "Key 9", "key 1"]],
  ])("of %p is %p: numbers count as numbers, and what is unknown comes last", (query, names) => {
    expect(shown(query).names).toEqual(names);
  });

  test("a heading sorts first from A or from the largest, then the other way round, and keeps filters but no place in the list", () => {
    expect(shown("owner=a%26b&after=key-1&as=csv").links).toEqual([
      "/keys?owner=a%26b&sort=name",
      "/keys?owner=a%26b&sort=-spent",
      "/keys?owner=a%26b&sort=-used",
    ]);
    const sorted = shown("sort=-spent");
    expect(sorted.links[1]).toBe("/keys?sort=spent");
    expect(sorted.text.match(/ aria-sort="descending"/g)).toHaveLength(1);
    expect(sorted.kept).toEqual({ sort: "-spent" });
  });

  test("a list of which only some rows are at hand is not sorted, and says so", () => {
    const part = shown("sort=name", { isWhole: false });
    expect([part.names, part.links, part.kept]).toEqual([["key 10", "Key 9", "key 1"], [], {}]);
    expect(part.view).toContain("There are too many rows to sort: they are in order of creation.");
  });

  test("of a page's part, all rows are ordered before it is taken", () => {
    const place = { path: "/keys", query: new URLSearchParams("sort=-spent") };
    const list = { caption: "Keys", columns, rows, empty: markup``, isWhole: true, order: "", part: { from: 1, most: 1 } };
    expect(String(arrangedList(list, place).table).match(/rowheader/g)).toHaveLength(1);
    expect(String(arrangedList(list, place).table)).toContain("<bdi>key 1</bdi>");
  });

  test("ten thousand rows are sorted as three are", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      name: `key ${(index * 7_919) % 10_000}`,
      spent: 0n,
      used: null,
    }));
    const { names } = shown("sort=name", { of: many });
    expect([names[0], names[1], names[9_999]]).toEqual(["key 0", "key 1", "key 9999"]);
  });
});

describe("the columns", () => {
  test("are the usual ones, or those in the address, with the first and the actions always", () => {
    expect(shown("").heads).toEqual(["Name", "Spent", "Last used", "Actions"]);
    expect(shown("columns=note,unknown").heads).toEqual(["Name", "Note", "Actions"]);
    expect(shown("columns=name&columns=spent&columns=note").heads).toEqual(["Name", "Spent", "Note", "Actions"]);
    expect(shown("columns=unknown").heads).toEqual(["Name", "Spent", "Last used", "Actions"]);
  });

  test("are kept by the links of the order and of further rows", () => {
    const chosen = shown("columns=name&columns=spent&sort=name");
    expect(chosen.kept).toEqual({ columns: "name,spent", sort: "name" });
    expect(chosen.links).toEqual(["/keys?columns=name%2Cspent&sort=-name", "/keys?columns=name%2Cspent&sort=-spent"]);
  });

  test("are chosen in a form that has what is shown, and keeps the filters", () => {
    const { view } = shown("columns=name,note&sort=-name&owner=%22%3E");
    expect(view).toContain('<input type="hidden" name="columns" value="name" />');
    expect(view).toMatch(/<input type="hidden" name="owner" value="[^"<>]+" \/>/);
    expect(view).toMatch(/name="columns" value="note" checked/);
    expect(view).not.toMatch(/name="columns" value="spent" checked/);
    expect(view).toContain('<option value="-name" selected>Name, descending</option>');
  });

  test("cannot be chosen where there is no row", () => {
    const { view, text } = shown("sort=name", { of: [] });
    expect([view, text]).toEqual([null, "<p>None</p>"]);
  });
});
