import { Type } from "@sinclair/typebox";
import { EcosystemAge, ecosystemAges, noteSync, SyncForm } from "../../../security/advisories/import/ecosystem-ages.ts";
import { importRecords } from "../../../security/advisories/import/import-records.ts";
import { readBodyInSubprocess } from "../../../security/advisories/import/read-in-subprocess.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { advisoryBatchBodyBytesMax, advisoryReadHereBytesMax } from "../../limits.ts";
import { advisoryBatchMax, advisoryBatchMs } from "../../../security/limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { listOf, NoFields } from "../../fields.ts";

const Batch = Type.Object({
  records: Type.Array(Type.Unknown(), {
    maxItems: advisoryBatchMax,
    description: `a list of at most ${advisoryBatchMax} OSV records`,
  }),
});

const Outcome = Type.Object({
  imported: Type.Integer({ description: "Records that are new, or stored in the place of an older state" }),
  unchanged: Type.Integer({ description: "Records that were stored already, in this state or a newer one" }),
  failures: Type.Array(
    Type.Object({
      index: Type.Integer({ description: "The record's index in the list, from 0" }),
      reason: Type.String({ description: "Why it was refused" }),
    }),
    { description: "Records that were refused; the others were stored" },
  ),
});

/** Keeps the names of unknown fields, so that the error can name them. */
async function readBatch(pieces: readonly Uint8Array[], clock: Clock): Promise<Record<string, unknown>> {
  const { refused, others, records } = await readBodyInSubprocess(pieces, clock);
  if (refused !== null) throw new DomainError("invalid_body", refused);
  return { ...Object.fromEntries(others.map((name) => [name, null])), ...(records !== null && { records }) };
}

export const advisoryEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/advisories",
    summary: "Show how old is what is known of each ecosystem",
    fields: NoFields,
    view: listOf(EcosystemAge),
    async handle({ parts: { sql } }) {
      return { data: await ecosystemAges(sql) };
    },
  }),
  endpoint({
    method: "POST",
    path: "/advisories",
    summary: "Store advisories, a batch in one transaction; the same batch again changes nothing",
    fields: Batch,
    view: Outcome,
    deadlineMs: advisoryBatchMs,
    bodyBytesMax: advisoryBatchBodyBytesMax,
    readInSubprocess: { fromBytes: advisoryReadHereBytesMax, read: readBatch },
    async handle({ input: { records }, actors, parts }) {
      actors.operator("import advisories");
      const { scans, ...outcome } = await importRecords(records, parts);
      if (scans > 0) parts.notify("scan-waits");
      return outcome;
    },
  }),
  endpoint({
    method: "POST",
    path: "/advisories/syncs",
    summary: "Note that the records of an ecosystem's published archive are stored",
    fields: SyncForm,
    view: listOf(EcosystemAge),
    async handle({ input, actors, parts }) {
      actors.operator("note a synchronization of advisories");
      await noteSync(input, parts);
      return { data: await ecosystemAges(parts.sql) };
    },
  }),
];
