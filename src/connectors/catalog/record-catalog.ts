/** Gives a catalog its version: its existing one, or a new one with the list of changes. */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { ConnectorCatalog } from "./files/catalog.ts";
import { changesBetween } from "./changes.ts";
import { compressed, sha256, textOf, unpackedDocument } from "./document.ts";
import { exportCatalog, exportFormats } from "./exports.ts";
import {
  countCatalogsOf,
  insertCatalog,
  insertChanges,
  insertExport,
  latestCatalog,
  lockCatalogs,
  selectExport,
  type CatalogVersion,
} from "./store.ts";

interface Sources {
  sql: Database;
  clock: Clock;
}

/** Records once, however many gateways start with it at the same time. */
export async function recordCatalog(catalog: ConnectorCatalog, { sql, clock }: Sources): Promise<CatalogVersion> {
  const ndjson = exportCatalog(catalog, "ndjson");
  const digest = sha256(ndjson);
  const latest = await latestCatalog(sql);
  if (latest?.sha256 === digest) return latest;
  const exports = await Promise.all(
    exportFormats.map(async (format) => ({ format, gzip: await compressed(Buffer.from(exportCatalog(catalog, format))) })),
  );
  return sql.begin(async (tx) => {
    await lockCatalogs(tx);
    const before = await latestCatalog(tx);
    if (before?.sha256 === digest) return before;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const version = `${day}.${(await countCatalogsOf(day, tx)) + 1}`;
    const recorded = { number: (before?.number ?? 0) + 1, version, sha256: digest };
    await insertCatalog({ ...recorded, connectors: catalog.connectors.length, at: new Date(clock.now()) }, tx);
    for (const one of exports) await insertExport({ catalog: recorded.number, ...one }, tx);
    await insertChanges(recorded.number, changesBetween({ before: await ndjsonOf(before, tx), after: ndjson }), tx);
    return recorded;
  });
}

async function ndjsonOf(catalog: CatalogVersion | undefined, tx: Transaction): Promise<string> {
  const gzip = catalog && (await selectExport({ catalog: catalog.number, format: "ndjson" }, tx));
  return gzip ? textOf(await unpackedDocument(gzip, "")) : "";
}
