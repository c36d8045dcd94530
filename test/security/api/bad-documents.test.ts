/** Every way to send a document or record refuses wrong ones with a sentence, and stores nothing of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zipOf } from "../../support/security/archives.ts";
import { objectOf } from "../../support/control.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { bomJson, bomXml } from "../../support/security/sbom-documents.ts";
import { storedRows } from "../../support/servers/stored-rows.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";
import { Weir } from "../../support/weir.ts";

let stage: ToolsStage;
let weir: Weir;
let folder: TemporaryFolder;
beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
  weir = new Weir(stage.control);
  folder = await temporaryFolder();
  // The first use of a key is stored.
  await stage.api.data("get_active_scope");
}, 60_000);
afterAll(async () => {
  await weir[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

async function storesNothing(call: () => Promise<void>): Promise<void> {
  const before = await storedRows(stage.database.sql);
  await call();
  expect(await storedRows(stage.database.sql)).toEqual(before);
  expect(stage.control.logged.filter((line) => line.includes('"level":50'))).toEqual([]);
}

const sentence = /^[A-Z"a-z/].{10,}[^.]$/su;
const lodash = { type: "library", name: "lodash", version: "1", purl: "pkg:npm/lodash@1" };
const bom = (fields: object) => JSON.stringify({ ...bomJson("1.6"), ...fields });
const entities = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join("");

const documents: [string, string][] = [
  ["a word", "hello"],
  ["half a document", bom({}).slice(0, -20)],
  ["a component without a name", bom({ components: [{ type: "library" }] })],
  ["a repeated key", '{"bomFormat":"CycloneDX","bomFormat":"CycloneDX","specVersion":"1.6"}'],
  ["an entity bomb", `<!DOCTYPE bom [<!ENTITY e0 "x">${entities}]>${bomXml("1.6").replace(/^<\?xml.*\n/, "")}`],
  ["nesting without end", `{"bomFormat":"CycloneDX","specVersion":"1.6","x":${"[".repeat(10_000)}`],
];

describe("an SBOM that is", () => {
  test.each(documents)("%s is refused by the tools API, the control API and the command line", async (_what, text) => {
    await storesNothing(async () => {
      const message = await stage.api.refusal("upload_sbom", { project: "shop", product: "suite", sbom: text });
      expect(message).toMatch(sentence);
      const query = "?workspace=w&project=shop&product=suite";
      const { status, body } = await stage.control.call("POST", `/sboms${query}`, { body: text });
      expect([status, objectOf(objectOf(body)["error"])["message"]]).toEqual([400, message]);
      const path = join(folder.path, "bom");
      await writeFile(path, text);
      const printed = await weir.refusal("sbom", "upload", path, "--workspace", "w", "--project", "shop", "--product", "suite");
      expect(printed).toContain(message);
    });
  });

  test("bytes of an archive or an image is refused", async () => {
    for (const bytes of [zipOf([{ name: "bom.json", text: bom({}) }]), Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 1, 2, 3])]) {
      await storesNothing(async () => {
        expect((await stage.control.call("POST", "/sboms?workspace=w&project=shop", { body: bytes })).status).toBe(400);
      });
    }
  });

  test("valid except for a version of 10,000 characters is refused, and the error names the place", async () => {
    const sbom = { ...bomJson("1.6"), components: [{ ...lodash, version: "1".repeat(10_000), purl: undefined }] };
    await storesNothing(async () => {
      const { status, body } = await stage.api.call("upload_sbom", { project: "long", sbom });
      expect([status, body["error"]]).toEqual([400, expect.stringMatching(/components\[0\]\.version: /)]);
    });
  });
});

describe("the command line", () => {
  test.each([
    ["sbom upload"],
    ["sbom upload a b --workspace w --project shop"],
    ["sbom upload a --project shop"],
    ["sbom upload a --workspace w --project shop --produkt x"],
    ["repository import --workspace w"],
    ["repository import a"],
    ["product create --workspace w --nam x"],
    ["product list"],
    ["project set --workspace w --project shop"],
    ["project list --workspace w extra"],
    ["advisories import"],
    ["advisories import a --after nowhere"],
  ])("the command exits with 2 for wrong usage, with a message on stderr only: weir %s", async (line) => {
    await storesNothing(async () => {
      expect(await weir.run(...line.split(" "))).toEqual({ code: 2, out: "", error: expect.stringMatching(/^weir: .{10,}/) });
    });
  });

  test.each([
    ["sbom upload /nowhere/bom.json --workspace w --project shop"],
    ["sbom upload / --workspace w --project shop"],
    ["repository import /nowhere --workspace w"],
    ["repository import https://example.com/acme/app --workspace w"],
    ["product list --workspace nobody"],
    ["product create --workspace nobody --name x"],
    ["project set --workspace w --project none --product none"],
    ["project list --workspace nobody"],
    ["advisories import /nowhere.json"],
  ])("the command exits with 1 for a refusal, with a message on stderr only: weir %s", async (line) => {
    await storesNothing(async () => {
      expect(await weir.run(...line.split(" "))).toEqual({ code: 1, out: "", error: expect.stringMatching(/^weir: .{10,}/) });
    });
  });
});
