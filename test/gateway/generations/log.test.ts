import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { GenerationDetail } from "../../../src/gateway/generations/schema.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

describe.each(oneDatabase)("the request log on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  let mine: string;
  let theirs: string;
  const noon = Date.UTC(2026, 10, 20, 12);
  /** Oldest first: one of October, then one of each key, alternating. */
  let ids: string[];

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspace = await control.workspace("w", "1");
    mine = (await control.key("w")).id;
    theirs = (await control.key("w", { owner: "admin@w" })).id;
    const settled = [
      settlement({ workspace, key: mine, admittedAt: Date.UTC(2026, 9, 31) }),
      ...Array.from({ length: 6 }, (_, index) =>
        settlement({ workspace, key: index % 2 ? theirs : mine, admittedAt: noon + index }),
      ),
    ];
    await book(database.sql, ...settled);
    const other = await control.workspace("other", "1");
    await book(database.sql, settlement({ workspace: other, key: (await control.key("other")).id, admittedAt: noon + 100 }));
    ids = settled.map(({ generation }) => generation);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const listed = async (path: string, as?: string) =>
    (await control.list(path, as === undefined ? {} : { as })).map(({ generation_id }) => String(generation_id));

  test("the log lists the newest requests first, across months", async () => {
    expect(await listed("/log?workspace=w")).toEqual(ids.toReversed());
  });

  test("pages by generation id neither lose nor repeat a request", async () => {
    const pages: string[] = [];
    for (let before = ""; ; before = `&before=${pages.at(-1)}`) {
      const page = await listed(`/log?workspace=w&limit=3${before}`);
      pages.push(...page);
      if (page.length < 3) break;
    }
    expect(pages).toEqual(ids.toReversed());
  });

  test("the log shows one key, one workspace or all", async () => {
    const ofMine = ids.filter((_, index) => index === 0 || index % 2 === 1).toReversed();
    expect(await listed(`/log?key=${mine}`)).toEqual(ofMine);
    expect(await listed(`/log?key=${mine}&workspace=w&limit=2`)).toEqual(ofMine.slice(0, 2));
    expect(await control.refusal("GET", `/log?key=${mine}&workspace=other`)).toBe("404 not_found id");
    expect(await listed("/log")).toHaveLength(ids.length + 1);
  });

  test("members see their own requests, overseers see all requests", async () => {
    expect(await listed("/log?workspace=w", "member@w")).toEqual(await listed(`/log?key=${mine}`));
    expect(await listed("/log?workspace=w", "auditor@w")).toEqual(ids.toReversed());
    expect(await control.refusal("GET", `/log?workspace=w&key=${theirs}`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/log/${ids[2]}?workspace=w`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.expect("GET", `/log/${ids[1]}`, { as: "member@w" })).toMatchObject({ generation_id: ids[1] });
    expect(await control.refusal("GET", `/log/${ids[1]}?workspace=other`)).toBe("404 not_found id");
  });

  test("a request is found by the id of its answer's X-Request-Id, with the same rights", async () => {
    const requests = (await control.list("/log?workspace=w")).map(({ request_id }) => String(request_id)).toReversed();
    for (const [index, request] of requests.entries())
      expect(await control.expect("GET", `/log/${request}`)).toMatchObject({ generation_id: ids[index], request_id: request });
    expect(await control.refusal("GET", `/log/${requests[2]}`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/log/${requests[1]}?workspace=other`)).toBe("404 not_found id");
    expect(await control.refusal("GET", `/log/req-${"2".repeat(26)}`)).toBe("404 not_found id");
  });

  test("the log has only metadata, in the fields of the contract", async () => {
    const row = await control.expect("GET", `/log/${ids[1]}`);
    expect(Value.Check(GenerationDetail, row)).toBe(true);
    expect(row).toEqual({
      generation_id: ids[1],
      request_id: expect.stringMatching(/^req-/),
      workspace_id: workspace,
      key_id: mine,
      key_name: "Untitled key",
      member: "member@w",
      endpoint: "chat",
      model: "sandbox/echo",
      provider: "sandbox",
      status: 200,
      code: null,
      message: null,
      streamed: false,
      prompt_tokens: 100,
      cached_tokens: 0,
      cache_write_tokens: 0,
      completion_tokens: 50,
      reasoning_tokens: 0,
      tier_above_tokens: null,
      replayed_from: null,
      reserved_usd: "0.001000000",
      cost_usd: "0.000200000",
      own_key: false,
      list_cost_usd: null,
      usage_estimated: false,
      at: "2026-11-20T12:00:00.000Z",
      first_token_ms: 12,
      duration_ms: 34,
      outcome: "settled",
      price_lines: null,
      exact_cost_usd: "0.000200000000",
      uncharged_usd: "0.000000000",
      prompt_stored: false,
    });
  });

  test("the log shows a span of time to the millisecond, by the admission and not by the id", async () => {
    const spans = await control.workspace("spans", "1");
    const { id: key } = await control.key("spans");
    const settled = [-1, 0, 1, 999, 1_000].map((ms, number) => {
      const admittedAt = Date.UTC(2026, 10, 1) + ms;
      // Made before the admission, and the last one by a clock that is ahead.
      const generation = newGenerationId(admittedAt - 30_000 + (number === 4 ? 60_000 : 0));
      return settlement({ workspace: spans, key, model: `acme/${number % 2}`, admittedAt, generation });
    });
    await book(database.sql, ...settled);
    const [before = "", first = "", second = "", last = "", after = ""] = settled.map(({ generation }) => generation);
    const span = "from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:01Z";
    for (const scope of ["workspace=spans", `key=${key}`, "workspace=spans&member=member@spans"]) {
      expect(await listed(`/log?${scope}&${span}`)).toEqual([last, second, first]);
      expect(await listed(`/log?${scope}&${span}&limit=1`)).toEqual([last]);
      expect(await listed(`/log?${scope}&to=2026-11-01T00:00:00.000Z`)).toEqual([before]);
      expect(await listed(`/log?${scope}&from=2026-11-01T00:00:00.999Z`)).toEqual([after, last]);
    }
    expect(await listed(`/log?workspace=spans&model=acme/0&${span}`)).toEqual([second]);
    expect(await listed(`/log?${span}`)).toEqual([last, second, first]);
  });

  test("failures are found by status and code, and older ones by the cursor of the answer", async () => {
    const failing = await control.workspace("failing", "1");
    const { id: key } = await control.key("failing");
    const settled = Array.from({ length: 230 }, (_, number) => {
      const failure =
        number % 100 === 7
          ? { status: 429, code: "rate_limited" }
          : number === 3
            ? { status: 499, code: "client_disconnected" }
            : {};
      return settlement({ workspace: failing, key, admittedAt: noon + number, ...failure });
    });
    await book(database.sql, ...settled);
    const expected = [207, 107, 7, 3].map((number) => settled[number]?.generation ?? "");
    const found = async (query: string) => {
      const { data, next, searched } = await control.expect("GET", `/log?workspace=failing&${query}`);
      return { ids: (data as { generation_id: string }[]).map((row) => row.generation_id), next, searched };
    };
    expect(await found("status=error")).toEqual({ ids: expected, next: null, searched: 230 });
    expect(await found("status=error&code=rate_limited")).toEqual({ ids: expected.slice(0, 3), next: null, searched: 230 });
    expect(await found("status=ok&code=rate_limited")).toEqual({ ids: [], next: null, searched: 230 });
    expect((await found("endpoint=responses")).ids).toEqual([]);
    expect((await found("endpoint=chat&code=rate_limited")).ids).toEqual(expected.slice(0, 3));
    const first = await found("code=rate_limited&limit=2");
    expect(first).toEqual({ ids: expected.slice(0, 2), next: expected[1], searched: 123 });
    expect((await found(`code=rate_limited&limit=2&before=${String(first.next)}`)).ids).toEqual(expected.slice(2, 3));
    expect((await found(`status=ok&limit=3&member=member@failing`)).ids).toEqual(
      settled
        .slice(-3)
        .toReversed()
        .map(({ generation }) => generation),
    );
  });

  test("pages are the same from every position, with several models and months between their requests", async () => {
    const busy = await control.workspace("busy", "1");
    const { id: key } = await control.key("busy");
    const settled = [3, 3, 6, 8, 8, 8, 9, 10, 10].map((month, number) =>
      settlement({ workspace: busy, key, model: `acme/${number % 3}`, admittedAt: Date.UTC(2026, month, 1 + number) }),
    );
    await book(database.sql, ...settled);
    const newest = settled.map(({ generation }) => generation).toReversed();
    for (const limit of [1, 2, 4, 9, 20]) {
      expect(await listed(`/log?workspace=busy&limit=${limit}`)).toEqual(newest.slice(0, limit));
      for (const [index, before] of newest.entries()) {
        const page = await listed(`/log?workspace=busy&limit=${limit}&before=${before}`);
        expect(page).toEqual(newest.slice(index + 1, index + 1 + limit));
      }
    }
    expect(await listed(`/log?workspace=busy&before=gen-${"2".repeat(26)}`)).toEqual([]);
  });

  test("a page has the newest requests of a workspace where one of many models has nearly all of them", async () => {
    const many = await control.workspace("many", "1");
    const { id: key } = await control.key("many");
    const settled = Array.from({ length: 60 }, (_, number) =>
      settlement({ workspace: many, key, model: `acme/${number % 4 ? 0 : number}`, admittedAt: noon + number }),
    );
    await book(database.sql, ...settled);
    const newest = settled.map(({ generation }) => generation).toReversed();
    for (const limit of [1, 8, 14, 30, 100])
      expect(await listed(`/log?workspace=many&limit=${limit}`)).toEqual(newest.slice(0, limit));
  });

  test("a row shows the parts of its tokens and the price tier", async () => {
    const usage = { promptTokens: 300_000, cachedTokens: 1, cacheWriteTokens: 200, completionTokens: 50, reasoningTokens: 40 };
    const tiered = settlement({ workspace, key: mine, admittedAt: Date.UTC(2026, 9, 1), usage, tierAboveTokens: 272_000 });
    await book(database.sql, tiered);
    const parts = { cache_write_tokens: 200, reasoning_tokens: 40, tier_above_tokens: 272_000 };
    expect(await control.expect("GET", `/log/${tiered.generation}`)).toMatchObject(parts);
    expect((await control.list("/log?workspace=w&limit=100")).at(-1)).toMatchObject(parts);
  });

  test("the log names the endpoint, if it is not chat", async () => {
    const other = settlement({ workspace, key: mine, admittedAt: Date.UTC(2026, 9, 30), endpoint: "completions" });
    await book(database.sql, other);
    expect(await control.expect("GET", `/log/${other.generation}`)).toMatchObject({ endpoint: "completions" });
  });

  test.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=1&limit=2",
    "before=yesterday",
    "from=2026-13-01T00:00:00Z",
    "from=2026-11-01",
    "status=499",
    "from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z",
    "key=",
    "kye=1",
    "workspace=nowhere",
  ])("the log refuses ?%s", async (query) => {
    const { status } = await control.call("GET", `/log?${query}`);
    expect(status).toBe(query === "key=" || query === "workspace=nowhere" ? 404 : 400);
  });

  test("the log does not show a generation that has not ended", async () => {
    expect(await control.refusal("GET", `/log/gen-${"a".repeat(26)}`)).toBe("404 not_found id");
  });
});
