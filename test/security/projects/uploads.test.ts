/** `upload_sbom`: an SBOM becomes the current one of a project, or the response explains what to change. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { databases } from "../../support/servers/databases.ts";
import { bomJson, bomXml } from "../../support/security/sbom-documents.ts";
import { twoWorkspaces, type TwoWorkspaces } from "../../support/security/two-workspaces.ts";

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const library = (name: string, version: string) => ({ type: "library", name, version, purl: `pkg:npm/${name}@${version}` });
const bomOf = (components: unknown[]) => ({ ...bomJson("1.6"), components, dependencies: [] });

describe.each(databases)("uploads on $name", ({ open, runsAll }) => {
  let stage: TwoWorkspaces;
  beforeAll(async () => {
    stage = await twoWorkspaces(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const digestOf = async (id: unknown) => {
    const [row] = await stage.database.sql`SELECT encode(sha256, 'hex') AS digest FROM sboms WHERE id = ${String(id)}`;
    return row?.["digest"];
  };
  const counts = async () => {
    const [row] = await stage.database.sql`
      SELECT (SELECT count(*) FROM products) AS products, (SELECT count(*) FROM projects) AS projects,
        (SELECT count(*) FROM sboms) AS sboms, (SELECT count(*) FROM sbom_components) AS components`;
    return { ...row };
  };

  test("create the named project and product, request a scan, and describe the stored SBOM", async () => {
    const waiting = stage.api.notified.count("scan-waits");
    const { status, body } = await stage.api.call("upload_sbom", {
      sbom: bomJson("1.6"),
      project: "shop",
      product: "suite",
      filename: "bom.json",
    });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        data: {
          sbom_id: expect.stringMatching(/^sbom_/),
          project_id: expect.stringMatching(/^prj_/),
          format: "CycloneDX",
          spec_version: "1.6",
          components: 3,
          components_not_compared: 3,
          warnings: [],
          scan_status: "pending",
        },
        message:
          "3 components are stored; the scan is pending. 3 of them cannot be compared with advisories: get_project says why",
      },
    ]);
    expect(stage.api.notified.count("scan-waits")).toBe(waiting + 1);
  });

  if (!runsAll) return;

  test("store the digest of the sent bytes, for an object and for a string", async () => {
    const written = JSON.stringify(bomJson("1.4"), null, 3).replace("\n", " \n");
    const asObject = await stage.api.data("upload_sbom", `{"project":"bytes", "sbom" : ${written} }`);
    expect(await digestOf(asObject["sbom_id"])).toBe(sha256(written));
    const asText = await stage.api.data("upload_sbom", { project: "bytes", sbom: written });
    expect(asText["sbom_id"]).toBe(asObject["sbom_id"]);
    const xml = await stage.api.data("upload_sbom", { project: "bytes", sbom: bomXml("1.4") });
    expect(await digestOf(xml["sbom_id"])).toBe(sha256(bomXml("1.4")));
  });

  test("at the same time for a new project create one project", async () => {
    const before = await counts();
    const stored = await Promise.all([1, 2, 3, 1].map((number) => stage.upload("at-once", { product: "at-once" }, number)));
    expect(new Set(stored.map(({ project_id: id }) => id)).size).toBe(1);
    const after = await counts();
    expect(after["projects"]).toBe(BigInt(String(before["projects"])) + 1n);
    expect(after["sboms"]).toBe(BigInt(String(before["sboms"])) + 3n);
  });

  test("to a project or a product of another workspace are refused like unknown ids", async () => {
    const { project_id: project } = await stage.upload("mine", { product: "mine" });
    const [{ product } = {}] = await stage.database.sql`SELECT product_id AS product FROM projects WHERE id = ${String(project)}`;
    const before = await counts();
    const refused = (body: object) => stage.api.refusal("upload_sbom", { sbom: bomJson("1.6"), ...body }, { key: stage.theirs });
    expect(await refused({ project })).toBe(`There is no project with the id "${String(project)}"`);
    expect(await refused({ project: "x", product })).toBe(`There is no product with the id "${String(product)}"`);
    expect(await counts()).toEqual(before);
  });

  const sbomNeeded = "an SBOM as a JSON object, or as a text is needed";
  test.each<[string, unknown, string | RegExp]>([
    ["no SBOM", { project: "p" }, `The field "sbom" is missing: ${sbomNeeded}`],
    [
      "an unknown id",
      { sbom: bomJson("1.6"), project: `prj_${"2".repeat(26)}` },
      `There is no project with the id "prj_${"2".repeat(26)}"`,
    ],
    [
      "a package URL with a version of 2,000 characters",
      { sbom: bomOf([{ type: "library", "bom-ref": "a", name: "a", purl: `pkg:npm/a@${"1".repeat(2_000)}` }]), project: "p" },
      'component "a": has a version of 2000 characters; at most 1024 are kept',
    ],
    [
      "half of a surrogate pair",
      `{"project":"p","sbom":${JSON.stringify(bomOf([library("HALF", "1")])).replace("HALF", String.raw`\ud83d`)}}`,
      /surrogate pair/,
    ],
    [
      "nesting without end",
      `{"project":"p","sbom":{"a":${"[".repeat(5_000)}`,
      /nested deeper than|not valid JSON|ends in the middle/,
    ],
    ["a body that is cut", `{"project":"p","sbom":{"bomFormat":"Cy`, /is not valid JSON|ends in the middle/],
    ["a list for a body", [bomJson("1.6")], /^The request body must be a JSON object|^There is no field|JSON object/],
  ])("with %s are refused, and nothing is stored", async (_what, body, sentence) => {
    const before = await counts();
    const error = await stage.api.refusal("upload_sbom", body);
    if (typeof sentence === "string") expect(error).toBe(sentence);
    else expect(error).toMatch(sentence);
    expect(await counts()).toEqual(before);
  });
});
