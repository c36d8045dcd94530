import { describe, expect, test } from "bun:test";
import type { AnyField } from "../../../src/gateway/field-parts.ts";
import { columnFields, csvColumns, generationFields } from "../../../src/gateway/generation-fields.ts";
import { encodeSettlement } from "../../../src/gateway/journal/settlement.ts";
import { databases } from "../../support/servers/databases.ts";
import { settlement } from "../../support/gateway/settlements.ts";

describe.each(databases)("the table of a generation's fields on $name", ({ open }) => {
  test("it has the columns of the database, and sends them in the order in which the database reads them", async () => {
    await using database = await open();
    const columns = await database.sql<{ name: string }[]>`
      SELECT attname AS name FROM pg_attribute WHERE attrelid = 'generations'::regclass AND attnum > 0 AND NOT attisdropped`;
    // The only column that the database fills by itself.
    const named = [...columnFields.map(({ name }) => name), "booked_at"];
    expect(columns.map(({ name }) => name).toSorted()).toEqual(named.toSorted());
    const sent = await database.sql<{ name: string }[]>`
      SELECT attname AS name FROM pg_attribute JOIN pg_type ON pg_type.typrelid = attrelid
      WHERE typname = 'booked_generation' AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;
    expect(sent.map(({ name }) => name)).toEqual(columnFields.map((field) => field.sent));
  });
});

test("no place in a list is empty or taken twice", () => {
  const fields = Object.values<AnyField>(generationFields);
  const places = {
    wire: fields.map(({ wire }) => wire?.place),
    column: fields.map(({ column }) => column?.place),
    answer: fields.map(({ answer }) => answer?.[0]),
    csv: fields.map(({ csv }) => csv),
    cli: fields.map(({ cli }) => cli),
    page: fields.map(({ page }) => page?.[0]),
  };
  for (const [list, some] of Object.entries(places)) {
    const taken = some.filter((place) => place !== undefined).toSorted((a, b) => a - b);
    expect([list, taken]).toEqual([list, taken.map((_, index) => index)]);
  }
});

test("the spool and the bus have the values of a settlement where every version reads them", () => {
  const usage = { promptTokens: 5, cachedTokens: 4, cacheWriteTokens: 3, completionTokens: 2, reasoningTokens: 1 };
  const prices = { input: "1", output: "2", cacheRead: "3", cacheWrite: "4" };
  const ids = { generation: "gen-a", request: "req-a", workspace: "ws-a", key: "key-a", admittedAt: 1_795_000_000_000 };
  const plain = settlement({ ...ids, usage, prices, code: "upstream_error", status: 502, streamed: true });
  const text = `["gen-a","req-a","ws-a","key-a","2026-11","settled","1000000",1795000000000,"sandbox/echo","sandbox","1","2","3","4",5,4,3,2,1,false,502,"upstream_error",true,12,34`;
  expect(encodeSettlement(plain)).toBe(`${text}]`);
  const routing = { requested: null, attempts: [] };
  const rare = {
    block: "blk",
    ownKey: { id: "own", listCost: "6" },
    routing,
    endpoint: "embeddings" as const,
    tierAboveTokens: 7,
  };
  expect(encodeSettlement({ ...plain, ...rare })).toBe(
    `${text},{"tierAboveTokens":7,"endpoint":"embeddings","routing":{"requested":null,"attempts":[]},"ownKey":{"id":"own","listCost":"6"},"block":"blk"}]`,
  );
});

test("the columns of the CSV stay where spreadsheets look for them: new ones stand behind", () => {
  const first = "at,generation_id,request_id,key_id,key_name,member,endpoint,model,provider,status,code,streamed,prompt_tokens";
  const next =
    "cached_tokens,cache_write_tokens,completion_tokens,reasoning_tokens,cost_usd,own_key,list_cost_usd,first_token_ms";
  const last = "duration_ms,tier_above_tokens,reserved_usd,usage_estimated,requested_model";
  expect(csvColumns.join(",")).toStartWith(`${first},${next},${last}`);
});
