/** Storing, testing and replacing own provider keys: who may, what is refused, and what is shown. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { providerKeyTestsPerHourMax } from "../../../src/accounts/limits.ts";
import { run } from "../../../scripts/weir/run.ts";
import { sharedOwnKeyStage, type OwnKeyStage, type Tenant } from "../../support/gateway/own-key-stage.ts";
import { operatorToken } from "../../support/servers/fleet.ts";
import { chat as answer, error, hang } from "../../support/providers/stub-answers.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const long = "sk-own-0123456789abcdef";
let stage: OwnKeyStage;
let tenant: Tenant;
beforeAll(async () => {
  stage = await sharedOwnKeyStage();
  tenant = await stage.tenant();
  for (const role of ["member", "auditor", "super_admin"]) {
    await stage.fleet.operator().call("POST", "/members", { workspace: tenant.workspace, email: `${role}@example.test`, role });
  }
}, 60_000);
beforeEach(() => {
  for (const stub of [stage.alpha, stage.beta, stage.lonely]) stub.answer(answer("Hello"));
});

async function listed({ workspace }: Tenant, as?: string): Promise<Record<string, unknown>[]> {
  const { body } = await stage.call("GET", `/provider-keys?workspace=${workspace}`, { ...(as !== undefined && { as }) });
  return body["data"] as Record<string, unknown>[];
}

/** Calls of the model; a refused key is also tried by the list of models, which costs nothing. */
const called = () => stage.alpha.calls.filter(({ path }) => path.endsWith("/chat/completions")).length;

const form = (fields: Record<string, unknown> = {}) => ({ workspace: tenant.workspace, provider: "alpha", key: long, ...fields });

describe("a key is refused and nothing is stored", () => {
  const wrong: [string, Record<string, unknown>, string][] = [
    ["for an unknown provider", { provider: "alfa" }, "400 invalid_field provider"],
    ["for a provider that takes no key", { provider: "keyless" }, "400 invalid_field provider"],
    ["for a provider whose terms have not been checked", { provider: "unread" }, "409 conflict null"],
    ["without a key", { key: undefined }, "400 invalid_field key"],
    ["with a short key", { key: "sk-1234" }, "400 invalid_field key"],
    ["with a long key", { key: "k".repeat(513) }, "400 invalid_field key"],
    ["with a line end in the key", { key: `${long}\r\nx-evil: 1` }, "400 invalid_field key"],
    ["with a letter that no header has", { key: `${long}é` }, "400 invalid_field key"],
    ["with a key that is no text", { key: 12_345_678 }, "400 invalid_field key"],
    ["with two lines as its name", { name: "a\nb" }, "400 invalid_field name"],
    ["with a switch that is no switch", { zero_data_retention: "yes" }, "400 invalid_field zero_data_retention"],
    ["with an unknown field", { base_url: "https://evil.example" }, "400 invalid_field base_url"],
  ];
  test.each(wrong)("%s", async (_, fields, refusal) => {
    const calls = [stage.alpha, stage.lonely].map((stub) => stub.calls.length);
    expect(await stage.refusal("POST", "/provider-keys", { body: form(fields) })).toBe(refusal);
    expect([stage.alpha, stage.lonely].map((stub) => stub.calls.length)).toEqual(calls);
    expect(await listed(tenant)).toEqual([]);
  });

  test.each([
    ["refuses the key", error(401), "409 conflict null"],
    ["has suspended the account", error(402), "409 conflict null"],
    ["limits the key's rate", error(429), "409 conflict null"],
    ["no longer serves its cheapest model", error(404), "409 conflict null"],
    ["fails", error(500), "503 unavailable null"],
    ["does not answer", hang, "503 unavailable null"],
  ])("where the provider %s, and its words are not repeated", async (_, given, refusal) => {
    stage.alpha.answer(given);
    const calls = called();
    const { status, body } = await stage.call("POST", "/provider-keys", { body: form() });
    const { code, field, message } = body["error"] as Record<string, string | null>;
    expect(`${status} ${code} ${field}`).toBe(refusal);
    expect(message).toContain("nothing was stored");
    expect(message).not.toContain("The stub fails");
    expect(called()).toBe(calls + 1);
    expect(await listed(tenant)).toEqual([]);
  });

  test("where own keys are not switched on", async () => {
    const off = await stage.tenant({ earlyAccess: [] });
    expect(await stage.refusal("POST", "/provider-keys", { body: form({ workspace: off.workspace }) })).toBe("409 conflict null");
    expect(await listed(off)).toEqual([]);
  });
});

describe("a stored key", () => {
  let own: Tenant;
  let id: string;
  beforeAll(async () => {
    own = await stage.tenant();
    for (const role of ["member", "auditor", "super_admin"]) {
      await stage.fleet.operator().call("POST", "/members", { workspace: own.workspace, email: `${role}@example.test`, role });
    }
    stage.alpha.answer(answer("Hello"));
    id = await stage.store(own, { provider: "alpha", key: long, name: "ours" });
  });

  test("is tested by one call of at most 16 tokens on the provider's cheapest chat model", async () => {
    const calls = stage.lonely.calls.length;
    await stage.store(await stage.tenant(), { provider: "lonely", key: long });
    expect(stage.lonely.calls.length).toBe(calls + 1);
    expect(stage.lonely.calls.at(-1)?.body).toMatchObject({ model: "c", max_tokens: 16 });
  });

  test("is shown masked to admins, and others see that it exists", async () => {
    const times = { created_at: expect.any(String), tested_at: expect.any(String), last_used_at: null };
    const facts = { id, workspace_id: own.workspace, provider: "alpha", state: "active", zero_data_retention: false };
    for (const as of [undefined, "owner@example.test", "super_admin@example.test"]) {
      expect(await listed(own, as)).toEqual([{ ...facts, name: "ours", masked: "…cdef", ...times }]);
    }
    for (const as of ["member@example.test", "auditor@example.test"]) {
      expect(await listed(own, as)).toEqual([{ ...facts, name: null, masked: null, ...times, tested_at: null }]);
    }
  });

  test("of fewer than 20 characters is shown without any of them", async () => {
    const other = await stage.tenant();
    await stage.store(other, { provider: "alpha", key: "k".repeat(19) });
    expect((await listed(other))[0]).toMatchObject({ masked: "…", name: "Alpha key" });
  });

  test("is the only one in use for its provider, also with creations at the same time", async () => {
    expect(await stage.refusal("POST", "/provider-keys", { body: form({ workspace: own.workspace }) })).toBe("409 conflict null");
    const other = await stage.tenant();
    const made = await Promise.all(
      [1, 2, 3].map(() => stage.call("POST", "/provider-keys", { body: form({ workspace: other.workspace }) })),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect(await listed(other)).toHaveLength(1);
  });

  test.each([
    ["PUT", "", { key: long }],
    ["POST", "/disable", {}],
    ["POST", "/test", {}],
    ["DELETE", "", undefined],
  ])("is changed by no member or auditor, and by no other workspace: %s %s", async (method, path, body) => {
    const sent = { ...(body && { body }) };
    for (const role of ["member", "auditor"]) {
      const query = method === "DELETE" ? `?workspace=${own.workspace}` : "";
      const named = body && { body: { ...body, workspace: own.workspace } };
      expect(await stage.refusal(method, `/provider-keys/${id}${path}${query}`, { ...named, as: `${role}@example.test` })).toBe(
        "403 forbidden null",
      );
    }
    expect(await stage.refusal(method, `/provider-keys/own-none${path}`, sent)).toBe("404 not_found id");
    const query = method === "DELETE" ? `?workspace=${tenant.workspace}` : "";
    const elsewhere = body && { body: { ...body, workspace: tenant.workspace } };
    expect(await stage.refusal(method, `/provider-keys/${id}${path}${query}`, { ...elsewhere })).toBe("404 not_found id");
    expect((await listed(own))[0]).toMatchObject({ state: "active", masked: "…cdef" });
  });

  test("stays as it is where the new one is refused", async () => {
    stage.alpha.answer(error(401));
    expect(await stage.refusal("PUT", `/provider-keys/${id}`, { body: { key: `${long}-new` } })).toBe("409 conflict null");
    expect((await listed(own))[0]).toMatchObject({ state: "active", masked: "…cdef" });
  });

  test("that a test finds refused is refused, and active again after a test that passes", async () => {
    stage.alpha.answer(error(401));
    expect((await stage.call("POST", `/provider-keys/${id}/test`)).body).toMatchObject({
      ok: false,
      state: "refused",
      tests: [{ code: "upstream_auth" }],
    });
    stage.alpha.answer(answer("Hello"));
    expect((await stage.call("POST", `/provider-keys/${id}/test`, { body: { model: "stub/both" } })).body).toEqual({
      id,
      ok: true,
      state: "active",
      tests: [{ model: "stub/both", code: null }],
    });
    expect(await stage.refusal("POST", `/provider-keys/${id}/test`, { body: { model: "stub/cheap" } })).toBe(
      "400 invalid_field model",
    );
  });

  test("leaves audit rows without any part of it but its mask", async () => {
    const changed = await stage.tenant();
    const made = await stage.store(changed, { provider: "alpha", key: long });
    await stage.call("PUT", `/provider-keys/${made}`, { body: { key: `${long}WXYZ`, zero_data_retention: true } });
    for (let n = 0; n < 2; n++) await stage.call("POST", `/provider-keys/${made}/disable`);
    await stage.call("DELETE", `/provider-keys/${made}`);
    const { body } = await stage.call("GET", `/audit?workspace=${changed.workspace}`);
    const rows = body["data"] as { event: string; changes: unknown }[];
    const events = rows.filter(({ event }) => event.startsWith("provider.key."));
    expect(events.map(({ event, changes }) => [event, changes])).toEqual([
      ["provider.key.deleted", {}],
      ["provider.key.disabled", { state: { from: "active", to: "disabled" } }],
      ["provider.key.replaced", { masked: { from: "…cdef", to: "…WXYZ" }, zero_data_retention: { from: false, to: true } }],
      [
        "provider.key.created",
        {
          provider: { from: null, to: "alpha" },
          name: { from: null, to: "Alpha key" },
          masked: { from: null, to: "…cdef" },
          state: { from: null, to: "active" },
          zero_data_retention: { from: null, to: false },
        },
      ],
    ]);
    expect(JSON.stringify(rows)).not.toContain(long.slice(0, 12));
  });
});

test("a workspace has thirty keys tried in an hour, stored or not, so that nobody learns which of many keys are good", async () => {
  const trying = await stage.tenant();
  stage.alpha.answer(error(401));
  const before = called();
  const store = () => stage.refusal("POST", "/provider-keys", { body: form({ workspace: trying.workspace }) });
  const refusals = [];
  for (let index = 0; index < providerKeyTestsPerHourMax + 2; index++) refusals.push(await store());
  expect(refusals.slice(-3)).toEqual(["409 conflict null", "429 limit_reached null", "429 limit_reached null"]);
  expect(called() - before).toBe(providerKeyTestsPerHourMax);
});

test("the command line takes the key from a file, stores it, and takes it away again", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "key");
  await writeFile(file, `${long}\n`);
  const own = await stage.tenant();
  const weir = async (...words: string[]) => {
    let out = "";
    const service = () => ({ url: stage.fleet.url(), token: operatorToken });
    const terminal = { out: (text: string) => void (out += text), error: (text: string) => void (out += text) };
    const code = await run([...words, "--json"], { service, files: () => ({ catalogDir: "./catalog-data" }) }, terminal);
    return { code, out };
  };
  const created = await weir("provider-key", "create", "--workspace", own.workspace, "--provider", "alpha", "--key", file);
  expect(created.code).toBe(0);
  const { id, masked } = JSON.parse(created.out) as { id: string; masked: string };
  expect(masked).toBe("…cdef");
  const verbs = [
    ["replace", "--key", file, "--zero-data-retention", "on"],
    ["test", "--model", "stub/alpha"],
    ["disable"],
    ["delete"],
  ];
  for (const [verb = "", ...flags] of verbs)
    expect([verb, (await weir("provider-key", verb, "--id", id, ...flags)).code]).toEqual([verb, 0]);
  expect(JSON.parse((await weir("provider-key", "list", "--workspace", own.workspace)).out)).toEqual({ data: [] });
  expect((await weir("workspace", "set", "--workspace", own.workspace, "--own-key-fallback", "on")).out).toContain(
    '"own_key_fallback": true',
  );
  expect((await weir("provider-key", "create", "--workspace", own.workspace, "--provider", "alpha", "--key", "/none")).code).toBe(
    2,
  );
  expect((await weir("provider-key", "create", "--workspace", own.workspace, "--provider", "alpha")).code).toBe(2);
});

test("the last use of a key is shown within a minute", async () => {
  const own = await stage.tenant();
  await stage.store(own, { provider: "alpha", key: long });
  await fetch(`${stage.fleet.url()}/gpt/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${own.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "stub/alpha", messages: [{ role: "user", content: "Hello" }] }),
  });
  await until(async () => (await listed(own))[0]?.["last_used_at"] !== null);
});
