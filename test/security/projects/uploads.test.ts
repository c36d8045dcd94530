/** `upload_sbom`: an SBOM becomes the current one of a project, or the response explains what to change. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { sbomReadHereBytesMax } from "../../../src/security/limits.ts";
import { archivedFiles } from "../../support/security/archives.ts";
import { databases, openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { bomJson, bomXml } from "../../support/security/sbom-documents.ts";
import { testData } from "../../support/test-data.ts";
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
          scan_status: "pending",
        },
        message: "3 components are stored; the scan is pending",
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

  test("of more than 32 KiB are parsed in a subprocess, with the same result", async () => {
    const components = Array.from({ length: 4_000 }, (_, index) => library(`part-${index}`, `${index}.0.0`));
    const body = JSON.stringify({ project: "large", sbom: bomOf(components) });
    expect(body.length).toBeGreaterThan(sbomReadHereBytesMax);
    const stored = await stage.api.data("upload_sbom", body);
    expect(stored["components"]).toBe(4_000);
    expect(await digestOf(stored["sbom_id"])).toBe(sha256(JSON.stringify(bomOf(components))));
    const again = await stage.api.data("upload_sbom", { project: "large", sbom: JSON.stringify(bomOf(components)) });
    expect(again["sbom_id"]).toBe(stored["sbom_id"]);
    const broken = JSON.stringify({ project: "large", sbom: { ...bomOf(components), specVersion: "0.1" } });
    expect(await stage.api.refusal("upload_sbom", broken)).toStartWith('The document is CycloneDX, version "0.1"');
  }, 60_000);

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

  const entities = `<?xml version="1.0"?><!DOCTYPE bom [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${bomXml("1.4").replace(/^<\?xml.*?\?>/, "")}`;
  const sbomNeeded = "an SBOM as a JSON object, or as a text is needed";
  test.each<[string, unknown, string | RegExp]>([
    ["no SBOM", { project: "p" }, `The field "sbom" is missing: ${sbomNeeded}`],
    ["null for an SBOM", { sbom: null, project: "p" }, `The field "sbom" is null: ${sbomNeeded}`],
    ["a list for an SBOM", { sbom: [], project: "p" }, `The field "sbom" is a list: ${sbomNeeded}`],
    ["a number for an SBOM", { sbom: 5, project: "p" }, `The field "sbom" is 5: ${sbomNeeded}`],
    ["no project", { sbom: {} }, /^The field "project" is missing/],
    ["an empty name", { sbom: {}, project: "" }, /^The field "project" is ""/],
    ["a name that is too long", { sbom: {}, project: "x".repeat(201) }, /^The field "project" is a text of 201 characters/],
    ["null for a product", { sbom: {}, project: "p", product: null }, /^The field "product" is null/],
    ["an unknown field", { sbom: {}, projekt: "p" }, 'There is no field "projekt": the nearest known field is "project"'],
    [
      "an unknown id",
      { sbom: bomJson("1.6"), project: `prj_${"2".repeat(26)}` },
      `There is no project with the id "prj_${"2".repeat(26)}"`,
    ],
    ["an empty text", { sbom: " ", project: "p" }, "The document is empty"],
    ["a text that is none", { sbom: "hello", project: "p" }, /^The document is not an SBOM that is read here/],
    [
      "an object that is none",
      { sbom: {}, project: "p" },
      /^The document is not an SBOM that is read here but JSON with neither/,
    ],
    ["a lock file", { sbom: { lockfileVersion: 3 }, project: "p" }, /an npm lock file; make an SBOM of it/],
    ["an advisory", { sbom: { id: "GHSA-1", affected: [] }, project: "p" }, /an OSV advisory; it is no SBOM/],
    ["a document that is cut", { sbom: JSON.stringify(bomJson("1.6")).slice(0, 400), project: "p" }, /ends in the middle/],
    ["XML that is cut", { sbom: bomXml("1.6").slice(0, 400), project: "p" }, /./],
    [
      "a version that is not read",
      { sbom: { ...bomJson("1.6"), specVersion: "2.0" }, project: "p" },
      /versions 1\.2 to 1\.7 are read/,
    ],
    ["a document with a fault", { sbom: bomOf([{ type: "library" }]), project: "p" }, "components[0].name: is required"],
    ["entities", { sbom: entities, project: "p" }, /DOCTYPE|entit/i],
    [
      "a version of 10,000 characters",
      { sbom: bomOf([library("a", "1".repeat(10_000))]), project: "p" },
      /^components\[0\]\.version: /,
    ],
    [
      "a package URL with a version of 2,000 characters",
      { sbom: bomOf([{ type: "library", "bom-ref": "a", name: "a", purl: `pkg:npm/a@${"1".repeat(2_000)}` }]), project: "p" },
      'component "a": has a version of 2000 characters; at most 1024 are kept',
    ],
    ["a NUL", { sbom: bomOf([library("a\0", "1")]), project: "p" }, /^components\[0\]\.name: must hold neither U\+0000/],
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

  test("by an auditor are refused", async () => {
    const key = await stage.key("admin@w");
    await stage.control.expect("PATCH", "/members/admin@w", { body: { workspace: "w", role: "auditor" } });
    const sentence = await stage.api.refusal("upload_sbom", { sbom: bomJson("1.6"), project: "p" }, { key });
    expect(sentence).toStartWith("Cannot store an SBOM as auditor");
  });
});

const archive = testData("sboms.tar.gz");
const files = archive === null ? new Map<string, Uint8Array>() : archivedFiles(archive);
if (archive === null) console.log("skipped: the real SBOMs are not there (WEIR_TEST_DATA)");

describe.skipIf(archive === null)("real SBOMs", () => {
  let stage: TwoWorkspaces;
  beforeAll(async () => {
    stage = await twoWorkspaces(openEmbeddedDatabase);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const componentsOf = async (id: unknown) => [
    ...(await stage.database.sql`
      SELECT position, ref, name, version, purl, package_id, relation, via, licenses
      FROM sbom_components WHERE sbom_id = ${String(id)} ORDER BY position`),
  ];

  test("real SBOMs have the same components in JSON and in XML", async () => {
    const names = [...files.keys()].filter((name) => name.endsWith(".json"));
    const smallest = names.toSorted((one, other) => (files.get(one)?.length ?? 0) - (files.get(other)?.length ?? 0)).slice(0, 4);
    for (const name of smallest) {
      const text = (path: string) => new TextDecoder().decode(files.get(path));
      const json = await stage.api.data("upload_sbom", `{"project":${JSON.stringify(name)},"sbom":${text(name)}}`);
      const xml = await stage.api.data("upload_sbom", { project: name, sbom: text(name.replace(/json$/, "xml")) });
      expect(xml["components"]).toBe(json["components"]);
      expect(await componentsOf(xml["sbom_id"])).toEqual(await componentsOf(json["sbom_id"]));
    }
  }, 60_000);
});
