import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { arrayText, recordsText } from "../../src/backing/sql-text.ts";
import { columnFields } from "../../src/gateway/generation-fields.ts";
import { databases } from "../support/servers/databases.ts";

/** Any text that PostgreSQL can store, often one that an array or a record would quote. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", "(", ")", "{", "}", ",", " ", "\n", "\t", "'", "a", "NULL") }),
  fc.string({ unit: "grapheme" }),
);
const rows = fc.array(
  fc.record({ model: text, code: fc.option(text), entry: fc.option(fc.bigInt(0n, 2n ** 63n - 1n)), late: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 5,
  },
);
type Row = typeof rows extends fc.Arbitrary<(infer One)[]> ? One : never;

/** The fields of `booked_generation`, most of them NULL. */
const fieldsOf = (row: Row) => {
  const values = new Map(Object.entries(row));
  return columnFields.map(({ sent }) => values.get(sent) ?? null);
};

describe.each(databases)("rows sent as text to $name", ({ open }) => {
  test("a record arrives as it was sent, whatever its texts contain", async () => {
    await using database = await open();
    await fc.assert(
      fc.asyncProperty(rows, async (sent) => {
        const received = await database.sql<Row[]>`
          SELECT entry, late, model, code FROM unnest(${recordsText(sent, fieldsOf)}::text::booked_generation[])`;
        expect(received.map((row) => ({ ...row }))).toEqual(
          sent.map(({ entry, late, model, code }) => ({ entry, late, model, code })),
        );
      }),
      { numRuns: 150 },
    );
  });

  test("an array's element arrives as it was sent", async () => {
    await using database = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1 }), async (sent) => {
        const received = await database.sql<{ one: string | null }[]>`
          SELECT one FROM unnest(${arrayText(sent, (one) => one)}::text[]) AS one`;
        expect(received.map(({ one }) => one)).toEqual(sent);
      }),
      { numRuns: 150 },
    );
  });

  test("an array of texts comes back as it was sent", async () => {
    await using database = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(text), async (sent) => {
        const [row] = await database.sql<{ all: string[] }[]>`SELECT ${arrayText(sent, (one) => one)}::text[] AS all`;
        expect(row?.all).toEqual(sent);
      }),
      { numRuns: 150 },
    );
  });
});

test("half of a surrogate pair is refused as the database would refuse it", () => {
  expect(() => arrayText(["a\ud800b"], (one) => one)).toThrow(expect.objectContaining({ code: "22021" }));
  expect(() => recordsText(["a\ud800b"], (one) => [one])).toThrow(expect.objectContaining({ code: "22021" }));
  expect(() => recordsText(["a\ud800", "\udc00b"], (one) => [one])).toThrow(expect.objectContaining({ code: "22021" }));
});
