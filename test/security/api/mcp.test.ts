/** The operations are the same over HTTP, MCP over HTTP and MCP over stdio, for the official client in both eras. */
import { mkdir, readFile, readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operations } from "../../../src/security/api/operations.ts";
import { objectOf } from "../../support/control.ts";
import { problems, withoutTitles } from "../../support/described.ts";
import { bun, repository } from "../../support/processes/process.ts";
import { about } from "../../support/security/advisory-store.ts";
import { largeBom } from "../../support/security/sbom-documents.ts";
import { toolsInputs } from "../../support/security/tools-inputs.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { mcpClient, mcpFleet, overHttp, overStdio, type Era, type McpService } from "./mcp-clients.ts";

let fleet: Fleet;
let folder: TemporaryFolder;
let key = "";
beforeAll(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, "inside"));
  ({ fleet, key } = await mcpFleet());
}, 60_000);
afterAll(async () => {
  for (const one of connections.values()) await (await one).close();
  await folder[Symbol.asyncDispose]();
});

const service = (): McpService => ({ url: fleet.url(), key, attachRoot: join(folder.path, "inside") });

const doors = { HTTP: overHttp, stdio: overStdio };
const connections = new Map<string, Promise<Client>>();

/** One connection of each kind: each over stdio starts a process. */
function connection(door: keyof typeof doors, era: Era): Promise<Client> {
  const name = `${door} ${era}`;
  const known = connections.get(name) ?? doors[door](era, service());
  connections.set(name, known);
  return known;
}

interface Called {
  isError: boolean;
  body: Record<string, unknown>;
}

const call = async (through: Client, operation: string, input: Record<string, unknown> = {}): Promise<Called> => {
  const result = await through.callTool({ name: `platform_${operation}`, arguments: input });
  const body = objectOf(result.structuredContent);
  const [text] = result.content;
  expect(text?.type === "text" ? JSON.parse(text.text) : null).toEqual(body);
  return { isError: result.isError === true, body };
};

const overPost = async (operation: string, input: Record<string, unknown> = {}): Promise<Called> => {
  const headers = { authorization: key, "content-type": "application/json" };
  const url = `${fleet.url()}/api/tools/platform_${operation}`;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(input) });
  return { isError: !response.ok, body: objectOf(await response.json()) };
};

/** About a component of the uploaded document, imported later, so that a scan finds it. */
const records = [about("CVE-2026-0001", { name: "@scope/left" })];
const ids = { project_id: "", finding_id: "" };
/** Creates a new row each time, and needs a new name for it. */
const creating = "create_product";
const repeatable = operations.map(({ name }) => name).filter((name) => name !== creating);

beforeAll(async () => {
  const { upload_sbom, import_repository } = toolsInputs(ids);
  const stored = objectOf((await overPost("upload_sbom", upload_sbom)).body["data"]);
  ids.project_id = String(stored["project_id"]);
  await overPost("import_repository", import_repository);
  const projects = async () => rowsOf(objectOf((await overPost("list_projects")).body["data"])["projects"]);
  await until(async () => (await projects()).every(({ scan_status }) => scan_status === "not_comparable"));
  await fleet.operator().call("POST", "/advisories", { records });
  const found = async () => rowsOf(objectOf((await overPost("list_findings")).body["data"])["findings"]);
  await until(async () => (await found()).length > 0);
  const [finding = {}] = await found();
  ids.finding_id = String(finding["id"]);
  await overPost("update_finding", toolsInputs(ids)["update_finding"]);
}, 30_000);

function rowsOf(rows: unknown): Record<string, unknown>[] {
  return Array.isArray(rows) ? rows.map(objectOf) : [];
}

const wrong: [operation: string, input: Record<string, unknown>][] = [
  ["submit_feedback", { mesage: "x" }],
  ["submit_feedback", {}],
  ["list_my_tickets", { limit: 500 }],
  ["list_my_tickets", { limit: null }],
  ["set_active_scope", { kind: "project", id: "prj_none" }],
  ["update_finding", { finding_id: "fnd_none", status: "ignored" }],
  ["get_remediation", {}],
  ["create_product", { name: "" }],
  ["import_repository", { url: "https://git.example.com/acme/app" }],
];

test("every operation has an input for the tests below", () => {
  expect(Object.keys(toolsInputs(ids)).toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
});

/** Every operation through each door and in each era: what belongs to a door, and what to an era, does not depend on the other. */
describe.each([
  ["HTTP", "legacy", 1],
  ["HTTP", "auto", Infinity],
  ["stdio", "legacy", Infinity],
  ["stdio", "auto", 1],
] as const)("MCP over %s, era %s", (door, era, casesMax) => {
  let connected: Client;
  /** The client checks each result against the output schemas of this list. */
  let tools: Awaited<ReturnType<Client["listTools"]>>["tools"];
  beforeAll(async () => {
    connected = await connection(door, era);
    ({ tools } = await connected.listTools());
  }, 30_000);

  test("no input schema has anyOf at any level: some clients refuse every tool of a list in which one has it", () => {
    expect(JSON.stringify(tools.map(({ inputSchema }) => inputSchema))).not.toMatch(/"(?:any|one|all)Of"|"\$ref"/);
    const fieldOf = (name: string, field: string) =>
      Object(tools.find((tool) => tool.name === `platform_${name}`)?.inputSchema.properties)[field];
    expect(fieldOf("upload_sbom", "sbom")).toMatchObject({ type: ["object", "string"] });
    expect(fieldOf("update_project", "product_id")).toMatchObject({ type: ["string", "null"], minLength: 1 });
  });

  test("the client negotiates the revision of its era", () => {
    expect(connected.getProtocolEra()).toBe(era === "legacy" ? "legacy" : "modern");
  });

  test("the list has every operation in one order, with title, description, schemas and annotations", () => {
    expect(tools.map(({ name }) => name)).toEqual(operations.map(({ name }) => `platform_${name}`));
    for (const { title, description, inputSchema, outputSchema, annotations } of tools) {
      expect([typeof title, typeof description, inputSchema.type, outputSchema?.["type"]]).toEqual([
        "string",
        "string",
        "object",
        "object",
      ]);
      expect(inputSchema["additionalProperties"]).toBe(false);
      expect(Object.keys(annotations ?? {}).toSorted()).toEqual([
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
        "readOnlyHint",
        "title",
      ]);
      for (const field of Object.values(inputSchema.properties ?? {}))
        expect(typeof objectOf(field)["description"]).toBe("string");
    }
    expect(tools.find(({ name }) => name === "platform_list_my_tickets")?.annotations?.readOnlyHint).toBe(true);
    expect(tools.find(({ name }) => name === "platform_submit_feedback")?.annotations?.readOnlyHint).toBe(false);
  });

  test.each(repeatable.slice(0, casesMax))("%s gives the same data as over HTTP", async (operation) => {
    const input = toolsInputs(ids)[operation];
    const expected = await overPost(operation, input);
    const { isError, body } = await call(connected, operation, input);
    expect([isError, body["success"]]).toEqual([false, true]);
    expect(body["data"]).toEqual(expected.body["data"]);
  });

  test.each(wrong.slice(0, casesMax))(
    "a call of %s with %j fails with the envelope of HTTP, which matches the tool's output schema",
    async (operation, input) => {
      const expected = await overPost(operation, input);
      const { isError, body } = await call(connected, operation, input);
      expect([isError, body]).toEqual([true, expected.body]);
      const tool = tools.find(({ name }) => name === `platform_${operation}`);
      expect(problems({}, withoutTitles(tool?.outputSchema), body)).toEqual([]);
    },
  );

  test("create_product creates what it creates over HTTP, each time another product", async () => {
    const [given, elsewhere] = [{ name: `Doors ${crypto.randomUUID()}` }, { name: `Doors ${crypto.randomUUID()}` }];
    const expected = objectOf((await overPost(creating, elsewhere)).body["data"]);
    const { isError, body } = await call(connected, creating, given);
    const made = objectOf(body["data"]);
    expect([isError, made]).toEqual([false, { ...expected, ...given, id: expect.any(String) }]);
    expect(made["id"]).not.toBe(expected["id"]);
  });

  test("an unknown tool is a protocol error", async () => {
    expect(connected.callTool({ name: "platform_none", arguments: {} })).rejects.toThrow("There is no tool platform_none");
  });
});

test("a document with more values than other calls may have is accepted over MCP as over HTTP", async () => {
  const sbom = largeBom(15_000);
  const connected = await connection("HTTP", "auto");
  const { isError, body } = await call(connected, "upload_sbom", { project: "large", sbom });
  expect([isError, objectOf(body["data"])["components"]]).toEqual([false, 15_000]);
  const again = await overPost("upload_sbom", { project: "large", sbom });
  expect(objectOf(again.body["data"])["sbom_id"]).toBe(objectOf(body["data"])["sbom_id"]);
}, 90_000);

describe("an attachment over stdio", () => {
  let connected: Client;
  const inside = (name: string) => join(folder.path, "inside", name);
  beforeAll(async () => {
    connected = await connection("stdio", "auto");
    await writeFile(inside("notes.txt"), "What I saw");
    await writeFile(inside("server.pem"), "secret");
    await writeFile(inside(".env"), "SECRET=1");
    await mkdir(inside(".hidden"));
    await writeFile(inside(".hidden/file.txt"), "secret");
    await mkdir(inside("folder"));
    await writeFile(join(folder.path, "outside.txt"), "secret");
    await symlink(join(folder.path, "outside.txt"), inside("link.txt"));
    await symlink(inside(".env"), inside("plain.txt"));
    await writeFile(inside("huge.bin"), "");
    await truncate(inside("huge.bin"), 50 * 1024 * 1024 + 1);
  }, 30_000);

  test("the file is sent before its ticket, kept with it, and named in the confirmation", async () => {
    const { body } = await call(connected, "submit_feedback", { message: "See the file", attachment_path: "notes.txt" });
    expect(objectOf(body["data"])["attachment"]).toEqual({ name: "notes.txt", size: 10 });
    const kept = await readdir(join(fleet.dataDir, "attachments"));
    const texts = await Promise.all(kept.map((name) => readFile(join(fleet.dataDir, "attachments", name), "utf8")));
    expect(texts).toContain("What I saw");
  });

  test.each([
    ["../outside.txt", /^Cannot attach "..\/outside.txt": it is not in /],
    ["/etc/passwd", /it is not in /],
    ["link.txt", /it is not in /],
    ["plain.txt", /hidden files and keys are never attached$/],
    [".env", /hidden files and keys are never attached$/],
    [".hidden/file.txt", /hidden files and keys are never attached$/],
    ["server.pem", /hidden files and keys are never attached$/],
    ["folder", /it is not a regular file$/],
    [".", /it is not in /],
    ["none.txt", /the file does not exist$/],
    ["huge.bin", /it has 52428801 bytes, more than the limit of 52428800$/],
  ])("%s is refused, and no ticket is logged", async (path, sentence) => {
    const before = await call(connected, "list_my_tickets");
    const { isError, body } = await call(connected, "submit_feedback", { message: `Attach ${path}`, attachment_path: path });
    expect([isError, body["error"]]).toEqual([true, expect.stringMatching(sentence)]);
    expect(await call(connected, "list_my_tickets")).toEqual(before);
  });

  test("the file is not read if the rest of the call is wrong", async () => {
    const { body } = await call(connected, "submit_feedback", { attachment_path: "none.txt" });
    expect(body["error"]).toStartWith('The field "message" is missing');
  });

  test("another person's file is unknown", async () => {
    const headers = { authorization: key, "content-type": "application/json", "x-attachment": "att_none" };
    const response = await fetch(`${fleet.url()}/api/tools/platform_submit_feedback`, {
      method: "POST",
      headers,
      body: '{"message":"x"}',
    });
    const error = "The attachment no longer exists: send the file again";
    expect([response.status, await response.json()]).toEqual([400, { success: false, error }]);
  });
});

test("the stdio server explains a missing service, and does not start without a key", async () => {
  const env = { PATH: process.env["PATH"] ?? "", WEIR_URL: "http://127.0.0.1:9", WEIR_TOOLS_KEY: key };
  const connected = mcpClient("auto");
  await connected.connect(
    new StdioClientTransport({ command: bun, args: ["scripts/mcp.ts"], env, cwd: repository, stderr: "ignore" }),
  );
  const { isError, body } = await call(connected, "get_active_scope");
  expect([isError, body["error"]]).toEqual([true, expect.stringMatching(/^Cannot reach Weir at http:\/\/127\.0\.0\.1:9: /)]);
  await connected.close();
  const child = Bun.spawn([bun, "scripts/mcp.ts"], { cwd: repository, env: { PATH: env.PATH }, stdout: "pipe", stderr: "pipe" });
  expect([await child.exited, await new Response(child.stdout).text()]).toEqual([1, ""]);
  expect(await new Response(child.stderr).text()).toStartWith("mcp: WEIR_TOOLS_KEY holds no tools key");
});
