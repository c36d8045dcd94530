import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verbLines } from "../../scripts/control-tables.ts";
import { additions } from "../../scripts/weir/additions.ts";
import { nameOf, rowsFile } from "../../scripts/weir/verb.ts";
import { verbs } from "../../scripts/weir/verbs.ts";
import { endpoints } from "../../src/control-api/endpoints.ts";
import { version } from "../../src/process/version.ts";
import { Control, objectOf, operatorToken } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { repository } from "../support/processes/process.ts";
import { Weir, type Outcome } from "../support/weir.ts";

let database: TestDatabase;
let control: Control;
let server: Weir;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql);
  server = new Weir(control);
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const weir = (...words: string[]) => server.run(...words);
const json = (...words: string[]) => server.json(...words);

test("the command line has the verbs of the endpoints as they are, and every endpoint has one, but the Workbench, which a page streams, and invitations, which their person answers in a session", () => {
  expect(readFileSync(rowsFile, "utf8")).toBe(verbLines());
  const without = endpoints.filter(({ command }) => command === null).map(({ method, path }) => `${method} ${path}`);
  expect(without).toEqual(["POST /invitations/:id/accept", "POST /invitations/:id/decline", "POST /workbench"]);
});

test("what the command line adds to verbs belongs to verbs of endpoints", () => {
  const names = endpoints.map(({ command }) => command?.name);
  expect(Object.keys(additions).filter((name) => !names.includes(name))).toEqual([]);
  const fields = verbs.map((verb) => [nameOf(verb), verb.flags.map(({ name }) => name)] as const);
  expect(fields.filter(([, names]) => new Set(names).size < names.length)).toEqual([]);
});

test("the commands create a workspace, add credit, change settings and show it", async () => {
  await json("workspace", "create", "--name", "Team A", "--credit", "10");
  const limits = [
    "--spend-limit",
    "5",
    "--fallbacks",
    "off",
    "--zero-data-retention",
    "on",
    "--prompt-storage",
    "on",
    "--cost-in-answers",
    "on",
    "--early-access",
    "completions",
  ];
  await json("workspace", "set", "--workspace", "Team A", "--enabled", "off", ...limits);
  expect(await json("workspace", "show", "--workspace", "Team A")).toMatchObject({
    name: "Team A",
    enabled: false,
    spend_limit_usd: "5.000000000",
    fallbacks: false,
    zero_data_retention: true,
    prompt_storage: true,
    cost_in_answers: true,
    early_access: ["completions"],
    balance_usd: "10.000000000",
  });
  const set = await json("workspace", "set", "--workspace", "Team A", "--spend-limit", "none", "--enabled", "on");
  expect(set).toMatchObject({ spend_limit_usd: null, enabled: true });
  expect(await json("credit", "add", "--workspace", "Team A", "--usd", "0.5", "--ref", "more")).toMatchObject({
    balance_usd: "10.500000000",
  });
  expect(await json("credit", "show", "--workspace", "Team A")).toMatchObject({ balance_usd: "10.500000000" });
});

test("the commands create, list, edit and revoke a key", async () => {
  await json("workspace", "create", "--name", "keys");
  await json("member", "add", "--workspace", "keys", "--email", "ada@keys", "--role", "member");
  expect(await json("member", "list", "--workspace", "keys")).toMatchObject({
    data: [{ email: "ada@keys", role: "member", state: "active" }],
  });
  const form = ["--name", "app", "--limit", "2.50", "--rpm", "5", "--kind", "tools"];
  const { id, key } = await json("key", "create", "--workspace", "keys", "--owner", "ada@keys", ...form);
  expect(key).toMatch(/^platform-mcp-[0-9a-f]{64}$/);
  const shown = await json("key", "show", "--id", String(id));
  expect(shown).toMatchObject({ name: "app", kind: "tools", monthly_spend_limit_usd: "2.500000000", rate_limit_rpm: 5 });
  const edited = await json(
    "key",
    "edit",
    "--id",
    String(id),
    "--limit",
    "none",
    "--rpm",
    "default",
    "--name",
    "",
    "--as",
    "ada@keys",
  );
  expect(edited).toMatchObject({ name: "Untitled key", monthly_spend_limit_usd: null, rate_limit_rpm: null });
  expect(await weir("key", "revoke", "--id", String(id))).toEqual({
    code: 2,
    out: "",
    error: "weir: A revoked key cannot be restored: add --yes to do it\n",
  });
  expect(await json("key", "list", "--workspace", "keys")).toMatchObject({ data: [{ id }] });
  await json("key", "revoke", "--id", String(id), "--yes");
  expect(await json("key", "list", "--workspace", "keys")).toEqual({ data: [] });
  expect(await json("key", "list", "--workspace", "keys", "--revoked")).toMatchObject({ data: [{ id }] });
  expect(await json("audit", "list", "--workspace", "keys", "--event", "auth.api.key.updated")).toMatchObject({
    data: [{ actor: "ada@keys" }],
  });
});

test("with --as a member acts only with their role", async () => {
  await json("workspace", "create", "--name", "roles");
  await json("member", "add", "--workspace", "roles", "--email", "a@roles", "--role", "auditor");
  const { code, out, error } = await weir("key", "create", "--workspace", "roles", "--as", "a@roles", "--json");
  expect([code, out]).toEqual([1, ""]);
  expect(error).toBe("weir: Cannot create a key as auditor: it requires the role member or admin or super_admin\n");
});

test("text output is aligned: a table for a list, and one line for each field of a single view", async () => {
  await json("workspace", "create", "--name", "text", "--credit", "1");
  await json("member", "add", "--workspace", "text", "--email", "long.address@text", "--role", "super_admin");
  await json("member", "add", "--workspace", "text", "--email", "b@text", "--role", "member");
  expect((await weir("member", "list", "--workspace", "text")).out).toBe(
    [
      "EMAIL              ROLE         STATE",
      "b@text             member       active",
      "long.address@text  super_admin  active",
      "",
    ].join("\n"),
  );
  expect((await weir("credit", "show", "--workspace", "text")).out).toBe(
    ["balance_usd    1.000000000", "reserved_usd   -", "available_usd  -", ""].join("\n"),
  );
  expect((await weir("key", "list", "--workspace", "text")).out).toBe("(none)\n");
});

describe("ledger verify", () => {
  test("the command writes its progress to stderr and its result to stdout", async () => {
    const { code, out, error } = await weir("ledger", "verify", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, broken: null });
    expect(error.split("\n")[0]).toMatch(/^gapless_chain: \d+ rows$/);
  });

  test("the command exits with 1 for a broken ledger, and still prints the result", async () => {
    await database.sql`UPDATE credit_accounts SET balance_nano = balance_nano + 1`;
    const { code, out } = await weir("ledger", "verify", "--json");
    await database.sql`UPDATE credit_accounts SET balance_nano = balance_nano - 1`;
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ ok: false, broken: { invariant: "account_is_chain_head" } });
  });
});

test("--help lists nouns, verbs and flags in any position, and sends nothing", async () => {
  expect((await weir("--help")).out).toContain("ledger verify");
  const ofKeys = await weir("key", "--help");
  expect(ofKeys.out).toContain("key revoke");
  expect(ofKeys.out).not.toContain("ledger verify");
  for (const { noun, verb, flags } of verbs) {
    const { code, out } = await weir(noun, verb, "--help");
    expect(code).toBe(0);
    for (const { name } of flags) expect(out).toContain(`--${name}`);
    expect(out).toContain(`\nExample: npm run -s weir -- ${`${noun} ${verb}`.trim()}`);
  }
});

describe("the command line as a process", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "weir-client-"));
    await writeFile(join(folder, "operator-token"), `${operatorToken}\n`);
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Starts the command line with only PATH of this process's environment. */
  function start(environment: Record<string, string>, ...words: string[]): Promise<Outcome> {
    const script = join(import.meta.dir, "../../scripts/weir.ts");
    const child = spawn(process.execPath, [script, ...words], {
      env: { PATH: process.env["PATH"], ...environment },
      cwd: folder,
    });
    const outcome: Outcome = { code: -1, out: "", error: "" };
    child.stdout.on("data", (chunk: Buffer) => void (outcome.out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (outcome.error += chunk.toString()));
    return new Promise((resolve) => child.once("close", (code) => resolve({ ...outcome, code: code ?? -1 })));
  }

  test("it finds the token in WEIR_TOKEN, or in DATA_DIR/operator-token", async () => {
    for (const environment of [{ WEIR_TOKEN: operatorToken }, { DATA_DIR: folder }, { DATA_DIR: folder, WEIR_TOKEN: "" }]) {
      const { code, out, error } = await start({ WEIR_URL: `${server.url}/`, ...environment }, "workspace", "list", "--json");
      expect([code, error]).toEqual([0, ""]);
      expect(objectOf(JSON.parse(out))["data"]).toBeArray();
    }
  });

  test("a tools key in WEIR_TOOLS_KEY is enough for findings, and for other commands the operator token is found or asked for", async () => {
    await control.workspace("keyed");
    const { key } = await control.key("keyed", { kind: "tools" });
    const [none, at] = [join(folder, "none"), { WEIR_URL: server.url, WEIR_TOOLS_KEY: key }];
    const findings = ["finding", "list", "--workspace", "keyed", "--json"];
    // The key stands over the token of a service on this machine.
    for (const dataDir of [none, folder]) {
      expect(await start({ ...at, DATA_DIR: dataDir }, ...findings)).toMatchObject({ code: 0, error: "" });
      const other = await start({ ...at, DATA_DIR: dataDir }, "finding", "list", "--workspace", "W");
      expect([other.code, other.error]).toEqual([1, expect.stringContaining("it opens only the workspace in which it was made")]);
      expect(await start({ ...at, DATA_DIR: dataDir }, "finding", "list", "--json")).toMatchObject({ code: 0, error: "" });
    }
    // With the operator token, or as a member, the workspace has to be named.
    for (const [environment, ...words] of [
      [{ ...at, WEIR_TOKEN: operatorToken }, "finding", "list"],
      [at, "finding", "list", "--as", "member@keyed"],
      [at, "member", "list"],
    ] as const) {
      const asked = await start({ DATA_DIR: folder, ...environment }, ...words);
      expect([asked.code, asked.error]).toEqual([2, expect.stringContaining("--workspace TEXT is missing")]);
    }
    for (const words of [
      ["workspace", "list"],
      [...findings, "--as", "member@keyed"],
    ]) {
      expect(await start({ ...at, DATA_DIR: folder }, ...words)).toMatchObject({ code: 0, error: "" });
      const missing = await start({ ...at, DATA_DIR: none }, ...words);
      expect(missing.error).toStartWith(
        "weir: This command needs the operator token, which WEIR_TOOLS_KEY is not, and there is none at",
      );
    }
    const without = await start({ WEIR_URL: server.url, DATA_DIR: none }, ...findings);
    expect(without.error).toContain("set WEIR_TOKEN, set WEIR_TOOLS_KEY to a tools key, or set DATA_DIR");
  });

  test("it waits and asks again where a limit of the service is reached, but not forever", async () => {
    const answers = [
      { status: 429, code: "limit_reached", after: "0" },
      { status: 503, code: "unavailable", after: "0" },
      { status: 429, code: "limit_reached", after: "9999" },
    ];
    let calls = 0;
    const busy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        const { status, code, after } = answers[calls++ % answers.length] ?? { status: 500, code: "", after: "" };
        return Response.json(
          { error: { code, field: null, message: "Too many calls" } },
          { status, headers: { "retry-after": after } },
        );
      },
    });
    const environment = { WEIR_URL: `http://127.0.0.1:${busy.port}`, WEIR_TOKEN: "x" };
    const refused = await start(environment, "finding", "list", "--workspace", "w");
    expect([refused, calls]).toEqual([{ code: 1, out: "", error: "weir: Too many calls\n" }, 3]);
    // A change may have been made.
    const changed = await start(environment, "product", "create", "--workspace", "w", "--name", "x");
    await busy.stop(true);
    expect([changed.code, calls]).toEqual([1, 4]);
  });

  test("it explains a missing or wrong token", async () => {
    const missing = await start({ WEIR_URL: server.url, DATA_DIR: join(folder, "none") }, "workspace", "list");
    expect(missing).toMatchObject({
      code: 1,
      out: "",
      error: expect.stringContaining("There is no operator token at "),
    });
    const wrong = await start({ WEIR_URL: server.url, WEIR_TOKEN: "wrong" }, "workspace", "list");
    expect(wrong).toEqual({ code: 1, out: "", error: "weir: Send the operator token as a Bearer token\n" });
  });

  test("it ends without a word when the reader of its output ends early", async () => {
    const script = join(import.meta.dir, "../../scripts/weir.ts");
    const line = `set -o pipefail; "$0" "${script}" catalog export | head -1 > /dev/null`;
    const child = spawn("bash", ["--norc", "-c", line, process.execPath], {
      cwd: repository,
      env: { PATH: process.env["PATH"] },
    });
    let error = "";
    child.stderr.on("data", (chunk: Buffer) => void (error += chunk.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, error]).toEqual([0, ""]);
  });

  test("it names the address of an unreachable service", async () => {
    const refused = await start({ PORT: "1", WEIR_TOKEN: operatorToken }, "workspace", "list", "--json");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toBe(
      "weir: Cannot reach Weir at http://127.0.0.1:1: no process listens there; is it running? WEIR_URL names its address\n",
    );
    const wrong = await start({ WEIR_URL: "localhost:8080", WEIR_TOKEN: operatorToken }, "workspace", "list");
    expect(wrong).toMatchObject({ code: 1, error: expect.stringContaining('WEIR_URL is "localhost:8080"') });
  });

  test("it reports a service that ends during a call", async () => {
    const dying = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => dying.listen(0, "127.0.0.1", resolve));
    const address = dying.address();
    const url = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
    const { code, error } = await start({ WEIR_URL: url, WEIR_TOKEN: operatorToken }, "workspace", "list");
    expect([code, error]).toEqual([
      1,
      `weir: Cannot reach Weir at ${url}: the connection was reset; is it running? WEIR_URL names its address\n`,
    ]);
    dying.close();
  });

  test("it reports an answer from another server", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<html>", { status: 404 }) });
    const url = `http://127.0.0.1:${other.port}`;
    const { code, error } = await start({ WEIR_URL: url, WEIR_TOKEN: "x" }, "workspace", "list");
    await other.stop(true);
    expect([code, error]).toEqual([1, `weir: The server at ${url} is not Weir's control API: status 404\n`]);
  });
});

test("status exits 1 for a problem and shows what runs, and --version shows the version alone", async () => {
  const control = new Control(database.sql);
  await using own = new Weir(control);
  const well = await own.run("status");
  expect([well.code, well.error]).toEqual([0, ""]);
  expect(well.out).toMatch(/^state +ok\n[^]*schema +0035-last\.sql\n[^]*PROCESS[^]*service {2}0 {8}here {2}1 /);
  control.fleet = { ...control.fleet, ok: false, problems: ["No process answers as metering"] };
  const ill = await own.run("status");
  expect(ill.code).toBe(1);
  expect(ill.out).toContain("1 problem\n                     No process answers as metering\n");
  expect(await own.run("--version")).toEqual({ code: 0, out: `${version}\n`, error: "" });
});
