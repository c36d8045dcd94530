/**
 * Endpoints that import advisories, start and show synchronizations, and count what is known of each ecosystem. A batch is stored together
 * with its effects on issues, findings and scans; large bodies are read in a subprocess. Concurrent imports take turns, batch by batch.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { textOrNull } from "../../http/json-schema.ts";
import type { Clock } from "../../kernel/clock.ts";
import { OsvEcosystemName, EcosystemAge, ecosystemAges, noteSync, SyncForm } from "../../security/advisories/ecosystem-ages.ts";
import { importRecords } from "../../security/advisories/import-records.ts";
import { readBodyInSubprocess } from "../../security/advisories/read-body.ts";
import { exploitSources, selectAdvisoryCounts, type SyncSource } from "../../security/advisories/sync-store.ts";
import { ExploitAge, exploitAges } from "../../security/findings/lists/exploits.ts";
import { advisoryBatchMax, advisoryBatchMs } from "../../security/limits.ts";
import { ecosystems } from "../../security/versions/ecosystem.ts";
import { listOf, NoFields } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { advisoryBatchBodyBytesMax, advisoryReadHereBytesMax } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

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
async function readBatch(bytes: Uint8Array, clock: Clock): Promise<Record<string, unknown>> {
  const { refused, others, records } = await readBodyInSubprocess(bytes, clock);
  if (refused !== null) throw new DomainError("invalid_body", refused);
  return { ...Object.fromEntries(others.map((name) => [name, null])), ...(records !== null && { records }) };
}

const syncSources = [...ecosystems, ...exploitSources];
const SourceName = Type.Unsafe<SyncSource>(
  Type.Union(
    syncSources.map((name) => Type.Literal(name)),
    { description: `one of ${syncSources.join(", ")}` },
  ),
);

const SyncState = Type.Object({
  running: Type.Boolean({ description: "Whether the service is importing advisories now" }),
  daily: Type.Boolean({ description: "Whether one begins each day by itself, since ADVISORIES_URL names a source" }),
  started_at: textOrNull("When the last synchronization of the service itself began, ISO 8601 in UTC; null: never"),
  ended_at: textOrNull("When it ended, ISO 8601 in UTC; null: it is running, or never ran"),
  progress: textOrNull("How far it is; null: never"),
  failure: textOrNull("Why it did not take over everything; null: it did"),
  results: Type.Array(
    Type.Object({
      ecosystem: SourceName,
      imported: Type.Integer({
        description: "Records that are new, or stored in the place of an older state; rows of EPSS or KEV",
      }),
      refused: Type.Integer({ description: "Records that were refused" }),
      failure: textOrNull("Why it was not taken over; null: it was"),
    }),
    { description: "The outcome of each ecosystem, of EPSS and KEV; empty: it is running, or never ran" },
  ),
});
export type SyncState = Static<typeof SyncState>;

async function syncState({ advisorySync }: Pick<ControlParts, "advisorySync">): Promise<SyncState> {
  const last = await advisorySync.last();
  const none = { started_at: null, ended_at: null, progress: null, failure: null, results: [] };
  return { running: last !== null && last.ended_at === null, daily: advisorySync.daily, ...(last ?? none) };
}

const Counts = Type.Object({
  ecosystem: OsvEcosystemName,
  records: Type.Integer({ description: "Its advisories that are not withdrawn" }),
  projects: Type.Integer({ description: "Projects of the service with a component of it" }),
});
type Counts = Static<typeof Counts>;

export const advisoryEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/advisories",
    command: "advisories list",
    takesToolsKey: true,
    summary: "Show how old the advisories of each ecosystem are, EPSS scores and CISA's catalog",
    fields: NoFields,
    view: Type.Object({
      ...listOf(EcosystemAge).properties,
      exploits: Type.Array(ExploitAge, { description: "EPSS scores and CISA's catalog of known exploited vulnerabilities" }),
    }),
    async handle({ parts: { sql } }) {
      return { data: await ecosystemAges(sql), exploits: await exploitAges(sql) };
    },
  }),
  import: endpoint({
    method: "POST",
    path: "/advisories",
    command: { name: "advisories import", flags: { records: null } },
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
  count: endpoint({
    method: "GET",
    path: "/advisory-counts",
    command: "advisories count",
    summary: "Count the advisories of each ecosystem, and the projects that need them",
    fields: NoFields,
    view: listOf(Counts),
    async handle({ actors, parts: { sql } }) {
      actors.operator("count advisories");
      return { data: await selectAdvisoryCounts(sql) };
    },
  }),
  startSync: endpoint({
    method: "POST",
    path: "/advisory-sync",
    command: "advisories start",
    summary: "Start the service's own import of published advisories, EPSS scores and CISA's catalog; one runs at a time",
    fields: Type.Object({
      ecosystems: Type.Optional(
        Type.Array(SourceName, {
          minItems: 1,
          maxItems: syncSources.length,
          title: `Some of ${syncSources.join(", ")}; default: all`,
          description: `a list of some of ${syncSources.join(", ")}`,
        }),
      ),
    }),
    view: SyncState,
    async handle({ input, actors, parts }) {
      actors.operator("synchronize advisories");
      await parts.advisorySync.start([...new Set(input.ecosystems ?? syncSources)]);
      return syncState(parts);
    },
  }),
  showSync: endpoint({
    method: "GET",
    path: "/advisory-sync",
    command: "advisories state",
    summary: "Show the last synchronization that the service ran itself",
    fields: NoFields,
    view: SyncState,
    async handle({ actors, parts }) {
      actors.operator("show the synchronization of advisories");
      return syncState(parts);
    },
  }),
  noteSync: endpoint({
    method: "POST",
    path: "/advisories/syncs",
    command: { name: "advisories sync", isStep: true },
    summary: "Note that the records of an ecosystem's published archive are stored, or begin to be sent",
    fields: SyncForm,
    view: listOf(EcosystemAge),
    async handle({ input, actors, parts }) {
      actors.operator("note a synchronization of advisories");
      await noteSync(input, parts);
      return { data: await ecosystemAges(parts.sql) };
    },
  }),
};
