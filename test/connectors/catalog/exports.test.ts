/** Exports that a job can compare byte by byte. */
import { expect, test } from "bun:test";
import { exportCatalog, exportFormats } from "../../../src/connectors/catalog/exports.ts";
import { catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { rowOf } from "../../../src/connectors/catalog/row.ts";
import { bareConnector, filesOf, recordOnly, sampleConnector } from "./sample.ts";

const connectors = [
  sampleConnector(),
  bareConnector("Bolt HR"),
  bareConnector("=Cell", { slug: "cell", id: "cell" }),
  recordOnly("Zed"),
];
const catalog = catalogOf(filesOf(connectors));

test.each(exportFormats)("the same files give the same %s in whatever order they are read", (format) => {
  const first = exportCatalog(catalog, format);
  const orders = [connectors.toReversed(), [...connectors.slice(2), ...connectors.slice(0, 2)]];
  for (const order of orders) expect(exportCatalog(catalogOf(filesOf(order)), format)).toBe(first);
  expect(first).toEndWith("\n");
  expect(first).not.toContain("\r");
});

test("NDJSON and JSON contain every row, sorted by id", () => {
  const rows = catalog.connectors.map((connector) => rowOf(connector, catalog));
  expect(
    exportCatalog(catalog, "ndjson")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(rows);
  expect(JSON.parse(exportCatalog(catalog, "json"))).toEqual({ connectors: rows });
  expect(rows.map(({ id }) => id)).toEqual(["acme-directory", "bolt-hr", "cell", "zed"]);
});

test("CSV begins with the five columns of the specification, and no cell is a formula", () => {
  const [header = "", acme = "", , cell = ""] = exportCatalog(catalog, "csv").split("\n");
  expect(header).toStartWith("Connector,Connect with,The form asks for,Grant at the vendor,Vendor docs,id,slug,");
  expect(acme).toStartWith(
    'Acme Directory,"API token, MCP server","Org URL, API key","groups.read, users.read; needs the vendor\'s plan: Enterprise",' +
      "https://docs.acme.example/api,acme-directory,acme-directory,Acme,Identity & SSO,api_token mcp,specific,",
  );
  expect(acme).toContain('"[{""fields"":[{""key"":""org_url""');
  expect(cell).toStartWith("'=Cell,API token,");
  expect(header.split(",")).toHaveLength(16);
});
