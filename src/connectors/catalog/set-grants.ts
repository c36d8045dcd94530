/** What single sets of credentials need of a connector's grant. The files say it; the rows have the whole grant only. */
import type { ConnectorCatalog } from "./files/catalog.ts";
import type { Grant } from "./files/schema.ts";
import type { ConnectorRow } from "./row.ts";

/** By connector's id, in the order of its sets; undefined for a set that needs the whole grant. */
export type SetGrants = ReadonlyMap<string, readonly (Grant | null | undefined)[]>;

export function setGrantsOf(catalog: Pick<ConnectorCatalog, "connectors"> | null): SetGrants {
  const own = (catalog?.connectors ?? []).flatMap(({ id, credential_sets = [] }) => {
    const grants = credential_sets.map(({ grant }) => grant);
    return grants.every((grant) => grant === undefined) ? [] : [[id, grants] as const];
  });
  return new Map(own);
}

/** What to grant for each set; one item if all sets need the same. */
export function grantsOf({ id, grant, credential_sets }: ConnectorRow, known: SetGrants): (Grant | null)[] {
  const own = known.get(id);
  if (own?.length !== credential_sets.length) return [grant];
  return own.map((one) => (one === undefined ? grant : one));
}
