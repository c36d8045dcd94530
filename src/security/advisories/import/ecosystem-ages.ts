/** How old is what is known of each ecosystem. */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { isoTime, type Clock } from "../../../kernel/clock.ts";
import { advisoryEtagCharactersMax } from "../../limits.ts";
import { ecosystems, type Ecosystem } from "../../versions/ecosystem.ts";
import { selectEcosystems, upsertSync } from "./ecosystem-store.ts";

const timeOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const EcosystemName = Type.Unsafe<Ecosystem>(
  Type.Union(
    ecosystems.map((name) => Type.Literal(name)),
    { description: `one of ${ecosystems.join(", ")}` },
  ),
);

export const EcosystemAge = Type.Object({
  ecosystem: EcosystemName,
  synced_at: timeOrNull("When its published archive was last taken over, ISO 8601 in UTC; null: never"),
  imported_at: timeOrNull("When one of its records was last imported, ISO 8601 in UTC; null: never"),
  newest_record: timeOrNull("When the newest of its imported records was changed, ISO 8601 in UTC; null: unknown"),
  published_at: timeOrNull("When the archive was published, ISO 8601 in UTC; null: unknown"),
  etag: timeOrNull("The archive's ETag; null: none"),
});
export type EcosystemAge = Static<typeof EcosystemAge>;

export const SyncForm = Type.Object({
  ecosystem: EcosystemName,
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
});
export type SyncForm = Static<typeof SyncForm>;

/** All seven, in the usual order. */
export async function ecosystemAges(sql: Queries): Promise<EcosystemAge[]> {
  const rows = new Map((await selectEcosystems(sql)).map((row) => [row.ecosystem, row]));
  return ecosystems.map((ecosystem) => {
    const row = rows.get(ecosystem);
    return {
      ecosystem,
      synced_at: timeOf(row?.syncedAt),
      imported_at: timeOf(row?.importedAt),
      newest_record: timeOf(row?.newestRecord),
      published_at: timeOf(row?.publishedAt),
      etag: row?.etag ?? null,
    };
  });
}

/**
 * How current the advisories of an ecosystem are: as its last synchronization or, without one, as the newest of its records, which is not
 * believed to be newer than its import. null: there are none.
 */
export function advisoriesUpdatedAt({
  synced_at: synced,
  newest_record: newest,
  imported_at: imported,
}: EcosystemAge): string | null {
  if (imported === null) return null;
  if (synced !== null) return synced;
  return newest === null || newest > imported ? imported : newest;
}

/** Notes that the records of an ecosystem's published archive are stored. */
export async function noteSync(form: SyncForm, { sql, clock }: { sql: Queries; clock: Clock }): Promise<void> {
  const { ecosystem, etag, published_at: published } = form;
  const publishedAt = published === null ? null : new Date(published);
  await upsertSync({ ecosystem, etag, publishedAt, at: new Date(clock.now()) }, sql);
}

function timeOf(time: Date | null | undefined): string | null {
  return time ? isoTime(time.getTime()) : null;
}
