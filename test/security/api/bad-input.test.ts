/** Operations answer any wrong input with 400 and a sentence that says what to change, and store nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operations } from "../../../src/security/api/operations.ts";
import { startGithub } from "../repositories/github-stub.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { jsonOf, problems, withoutTitles } from "../../support/described.ts";
import type { PlatformStub } from "../repositories/stub.ts";
import { lodash } from "../../support/security/security-world.ts";
import { storedRows } from "../../support/servers/stored-rows.ts";
import { toolsInputs } from "../../support/security/tools-inputs.ts";
import { twoWorkspaces, type TwoWorkspaces } from "../../support/security/two-workspaces.ts";

let stage: TwoWorkspaces;
let github: PlatformStub;
let inputs: Record<string, Record<string, unknown>>;
/** Ids of the other workspace, by the field for such an id. */
const theirs: Record<string, unknown> = {};

beforeAll(async () => {
  stage = await twoWorkspaces(openEmbeddedDatabase);
  github = startGithub({ "go.sum": "", "go.mod": "module m\ngo 1.21\nrequire golang.org/x/text v0.3.0\n" });
  stage.control.platforms.hostUrls.github = github.url;
  await stage.world.publish(lodash("CVE-2026-0001"));
  const key = stage.theirs;
  const other = await stage.api.data("upload_sbom", uploadOf("other"), { key });
  await stage.api.data("upload_sbom", uploadOf("shop"));
  await stage.world.scan();
  const [finding_id, project_id] = await idsOf();
  const [theirFinding] = await idsOf({ key });
  Object.assign(theirs, { finding_id: theirFinding, project_id: other["project_id"], sbom_id: other["sbom_id"] });
  theirs["product_id"] = (await stage.api.data("create_product", { name: "theirs" }, { key }))["id"];
  theirs["id"] = theirs["project_id"];
  inputs = { ...toolsInputs({ finding_id, project_id }), set_active_scope: { kind: "project", id: project_id } };
}, 60_000);
afterAll(async () => {
  await github[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

function uploadOf(project: string): Record<string, unknown> {
  const components = [{ type: "library", name: "lodash", version: "4.17.19", purl: "pkg:npm/lodash@4.17.19" }];
  return { project, sbom: { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components } };
}

async function idsOf(sent: { key?: string } = {}): Promise<unknown[]> {
  const { findings } = await stage.api.data("list_findings", {}, sent);
  const { id, project_id } = jsonOf(Array.isArray(findings) ? findings[0] : {});
  return [id, project_id];
}

/** Values of each kind of JSON, too small, too large and malformed. */
const values: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e15,
  1e308,
  "",
  " ",
  "none",
  "\u0000",
  "a\nb",
  "x".repeat(10_000),
  "' OR 1=1 --",
  "../../etc/passwd",
  [],
  ["x"],
  {},
  { a: 1 },
];

/** Unknown ids, which only the operation itself can refuse. */
const ids = ["prj_none", "fnd_none", `prj_${"a".repeat(190)}`, "💥", "prj_%00", "prj_' OR '1'='1"];

/** @returns the error; null: the call succeeded */
async function refusalOf(operation: string, body: unknown, headers: Record<string, string> = {}): Promise<string | null> {
  const answer = await stage.api.call(operation, body, { headers });
  const sent = String(JSON.stringify(body)).slice(0, 200);
  if (answer.status === 200) return null;
  expect([operation, sent, answer.status, stage.api.logged.join("")]).toEqual([operation, sent, 400, ""]);
  expect(Object.keys(answer.body)).toEqual(["success", "error"]);
  const sentence = String(answer.body["error"]);
  expect(sentence).toMatch(/^[A-Z"].{10,}[^.]$/su);
  return sentence;
}

/** Runs calls that must all be refused. */
async function storesNothing(calls: () => Promise<void>): Promise<void> {
  const before = await storedRows(stage.database.sql);
  await calls();
  expect(await storedRows(stage.database.sql)).toEqual(before);
}

test("every operation has a valid input for the tests below", () => {
  expect(Object.keys(inputs).toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
});

describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (name, { input: described }) => {
  const fields = Object.keys(described.properties);
  const refuses = (field: string, value: unknown) => problems({}, withoutTitles(described.properties[field]), value).length > 0;

  test("it refuses each value that its description excludes, and names the field", async () => {
    await storesNothing(async () => {
      for (const field of fields) {
        for (const value of values.filter((one) => refuses(field, one))) {
          expect(await refusalOf(name, { ...inputs[name], [field]: value })).toStartWith(`The field "${field}" is `);
        }
      }
    });
  });

  test("it accepts the other values, or refuses them with a sentence", async () => {
    for (const field of fields.filter((one) => one !== "message")) {
      for (const value of values.filter((one) => !refuses(field, one))) {
        await refusalOf(name, { ...inputs[name], [field]: value });
      }
    }
  });

  test("it requires its required fields and refuses unknown ones, naming the nearest", async () => {
    await storesNothing(async () => {
      for (const field of described.required ?? []) {
        const { [field]: _left, ...rest } = inputs[name] ?? {};
        expect(await refusalOf(name, rest)).toStartWith(`The field "${field}" is missing: `);
      }
      for (const field of fields) {
        const sentence = await refusalOf(name, { ...inputs[name], [`${field}z`]: 1 });
        expect(sentence).toBe(`There is no field "${field}z": the nearest known field is "${field}"`);
      }
      for (const field of ["__proto__", "constructor", "workspace_id", "x".repeat(10_000)]) {
        expect(await refusalOf(name, `{"${field}":1}`)).toStartWith('There is no field "');
      }
    });
  });

  test("it gives the same answer for an unknown id and for one of another workspace", async () => {
    for (const field of fields.filter((one) => /(^|_)id$/.test(one) && one !== "cve_id")) {
      await storesNothing(async () => {
        const rest = name === "get_remediation" ? {} : inputs[name];
        const refusalFor = async (id: string) => (await refusalOf(name, { ...rest, [field]: id }))?.replaceAll(id, "ID");
        const unknown = await refusalFor("prj_none");
        expect(unknown).toMatch(/^There is no (project|product|finding|SBOM) with the id "ID"$/);
        expect(await refusalFor(String(theirs[field]))).toBe(unknown ?? "");
        for (const id of ids) expect(await refusalFor(id)).toBe(unknown ?? "");
      });
    }
  });
});
