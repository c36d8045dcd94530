/**
 * Says how old the advisories of each ecosystem are, and records when a synchronization begins and ends. An ecosystem whose first
 * synchronization is incomplete counts as unknown: some of its advisories are not enough for a verdict.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { textOrNull } from "../../http/json-schema.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { advisoryEtagCharactersMax } from "../limits.ts";
import { ecosystems, type Ecosystem } from "../versions/ecosystem.ts";
import { selectEcosystems, upsertBegunSync, upsertSync } from "./sync-store.ts";

export const OsvEcosystemName = Type.Unsafe<Ecosystem>(
  Type.Union(
    ecosystems.map((name) => Type.Literal(name)),
    { description: `one of ${ecosystems.join(", ")}` },
  ),
);

export const EcosystemAge = Type.Object({
  ecosystem: OsvEcosystemName,
  known: Type.Boolean({
    description: "Whether projects are compared with it: it has records, and its first synchronization is not incomplete",
  }),
  sync_began_at: textOrNull(
    "When its first synchronization began to send records, while it is not complete, ISO 8601 in UTC; null: none is incomplete",
  ),
  synced_at: textOrNull("When its published archive was last taken over, ISO 8601 in UTC; null: never"),
  imported_at: textOrNull("When one of its records, not withdrawn, was last imported, ISO 8601 in UTC; null: never"),
  newest_record: textOrNull("When the newest of its imported records was changed, ISO 8601 in UTC; null: unknown"),
  published_at: textOrNull("When the archive was published, ISO 8601 in UTC; null: unknown"),
  etag: textOrNull("The archive's ETag; null: none"),
});
export type EcosystemAge = Static<typeof EcosystemAge>;

export const SyncForm = Type.Object({
  ecosystem: OsvEcosystemName,
  etag: Type.Union(
    [Type.String({ minLength: 1, maxLength: advisoryEtagCharactersMax, pattern: "^[\\x21-\\x7e]+$" }), Type.Null()],
    {
      description: "the ETag of the archive, or null,",
    },
  ),
  published_at: Type.Union(
    [Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$" }), Type.Null()],
    { description: "a time in UTC (ISO 8601) such as 2026-11-20T00:00:00Z, or null," },
  ),
  ended: Type.Optional(
    Type.Boolean({
      description:
        "false: its records begin to be sent, and it is not known before the end of its first synchronization; default: true,",
    }),
  ),
});
export type SyncForm = Static<typeof SyncForm>;

/** All seven ecosystems, in the usual order. */
export async function ecosystemAges(sql: Queries): Promise<EcosystemAge[]> {
  const rows = new Map((await selectEcosystems(sql)).map((row) => [row.ecosystem, row]));
  return ecosystems.map((ecosystem) => {
    const row = rows.get(ecosystem);
    return {
      ecosystem,
      known: row?.known ?? false,
      sync_began_at: timeOf(row?.syncBeganAt),
      synced_at: timeOf(row?.syncedAt),
      imported_at: timeOf(row?.importedAt),
      newest_record: timeOf(row?.newestRecord),
      published_at: timeOf(row?.publishedAt),
      etag: row?.etag ?? null,
    };
  });
}

/**
 * The time of the last synchronization; without one, the time of the newest record, or of the import if the record claims to be newer.
 * null: there are no advisories, or the first synchronization is incomplete.
 */
export function advisoriesUpdatedAt({
  known,
  synced_at: synced,
  newest_record: newest,
  imported_at: imported,
}: EcosystemAge): string | null {
  if (!known || imported === null) return null;
  if (synced !== null) return synced;
  return newest === null || newest > imported ? imported : newest;
}

/** Why nothing is compared with ecosystems whose first synchronization is incomplete. @param names their names */
export function incompleteText(names: string): string {
  return `the first synchronization of advisories for ${names} is not complete, and the next one continues it`;
}

/** Notes that the records of an ecosystem's published archive are stored, or that sending them has begun. */
export async function noteSync(form: SyncForm, { sql, clock }: { sql: Queries; clock: Clock }): Promise<void> {
  const { ecosystem, etag, published_at: published, ended = true } = form;
  const at = new Date(clock.now());
  if (!ended) return upsertBegunSync({ ecosystem, at }, sql);
  const publishedAt = published === null ? null : new Date(published);
  await upsertSync({ ecosystem, etag, publishedAt, at }, sql);
}

function timeOf(time: Date | null | undefined): string | null {
  return time ? isoTime(time.getTime()) : null;
}
