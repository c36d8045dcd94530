/** Problems between files that are each valid on their own. */
import { describe, expect, test } from "bun:test";
import { type ConnectorFiles, formatProblem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { judgeConnectors } from "../../../../src/connectors/catalog/files/judge.ts";
import type { Connector } from "../../../../src/connectors/catalog/files/schema.ts";
import { bareConnector, filesOf, recordOnly, sampleConnector } from "../sample.ts";

const good = (): Connector[] => [sampleConnector(), bareConnector("Bolt HR"), recordOnly("Carrier")];
const problemsIn = (files: ConnectorFiles): string[] => judgeConnectors(files).problems.map(formatProblem);
const problemsOf = (...connectors: Connector[]): string[] => problemsIn(filesOf(connectors));

describe("the check refuses these combinations of connectors", () => {
  const second = (name: string, changes: Partial<Connector> = {}) =>
    problemsOf(...good(), bareConnector(name, { slug: "second", id: "second", ...changes })).join("\n");

  test.each([
    "Acme directory",
    "ACME-Directory",
    "The Acme Directory, Inc.",
    "Ácme Directory",
    "Directory",
    "Acme People",
    "AcmeDirectory.com",
  ])("one vendor under two names: Acme Directory and %s", (name) => {
    expect(second(name)).toBe(
      "connectors/second.json: name: is a name of acme-directory too: keep one of the two, the other name as its aka",
    );
  });

  test("one vendor under a name and under another connector's other name", () => {
    expect(second("Second", { aka: ["acme directory"] })).toBe(
      "connectors/second.json: aka[0]: is a name of acme-directory too: keep one of the two, the other name as its aka",
    );
  });

  test.each([
    ["two products of one vendor", "Acme Backup", "Acme"],
    ["two vendors' products of one kind", "Zenith Directory", "Zenith"],
  ])("but accepts %s", (_, name, vendor) => {
    expect(second(name, { vendor })).toBe("");
  });

  test("an id that another connector has", () => {
    expect(second("Second", { id: "bolt-hr" })).toBe(
      'connectors/second.json: id: "bolt-hr" is the id of bolt-hr too: an id is never reused, make another',
    );
  });

  test("a second Record only", () => {
    expect(problemsOf(...good(), recordOnly("Dinghy"))).toEqual([
      'connectors/dinghy.json: methods: "record_only" is already in carrier, the only exception: write "api_token"',
    ]);
  });

  test("an OAuth app for a connector that does not offer OAuth, and for an unknown connector", () => {
    expect(problemsIn(filesOf(good(), ["bolt-hr", "nobody"]))).toEqual([
      'connectors/bolt-hr.json: methods: "oauth" is missing: add it, because oauth-apps.json names an app',
      'oauth-apps.json: connector: "nobody" is not the id of a connector: correct it',
    ]);
  });

  test("an unknown category, note or app", () => {
    const files = filesOf([]);
    expect(
      problemsIn({
        ...files,
        categories: { name: "categories.json", text: '[{"name":"HRIS"},{"name":"HRIS"}]' },
        grantNotes: { name: "grant-notes.json", text: '[{"code":"a"}]' },
        oauthApps: { name: "oauth-apps.json", text: "{}" },
      }),
    ).toEqual([
      "grant-notes.json: [0].text: is missing: write one line of text without surrounding spaces",
      "oauth-apps.json: is {}: write a list of objects with the id of a connector",
      'categories.json: [1].name: "HRIS" occurs twice: remove one',
    ]);
  });
});
