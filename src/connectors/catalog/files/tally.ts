/** Counts connectors and their sources; `weir catalog check` prints the figures. */
import { type ConnectorCatalog, claims, type Claim, type Connector } from "./schema.ts";
import { grantName } from "./columns.ts";
import { claimsOf } from "./rules.ts";

interface Counts {
  connectors: number;
  /** Forms with vendor-specific fields. */
  specific: number;
  /** Grants in the vendor's words; grants with nothing but notes are not counted. */
  grants: number;
  docs: number;
  mcp: number;
}

export interface Tally {
  total: Counts;
  /** In the order of categories.json. */
  categories: ({ category: string } & Counts)[];
  /** Connectors with a claim, and therefore with a source for it; `none` counts those without claims. */
  evidence: { claim: Claim | "none"; connectors: number }[];
  /** Sources by origin: a GitHub repository, or the sites of vendors and others. */
  sources: { place: string; sources: number }[];
}

export function tallyOf({ categories, connectors }: ConnectorCatalog): Tally {
  return {
    total: countsOf(connectors),
    categories: categories.map((category) => ({
      category,
      ...countsOf(connectors.filter((connector) => connector.category === category)),
    })),
    evidence: [
      ...claims.map((claim) => ({ claim, connectors: connectors.filter((one) => claimsOf(one).has(claim)).length })),
      { claim: "none", connectors: connectors.filter((one) => claimsOf(one).size === 0).length },
    ],
    sources: placesOf(connectors),
  };
}

function countsOf(connectors: readonly Connector[]): Counts {
  const number = (holds: (connector: Connector) => boolean): number => connectors.filter(holds).length;
  return {
    connectors: connectors.length,
    specific: number(({ form }) => form === "specific"),
    grants: number(({ grant }) => grant !== null && grantName(grant) !== null),
    docs: number(({ docs }) => docs !== null),
    mcp: number(({ mcp }) => mcp !== null),
  };
}

function placesOf(connectors: readonly Connector[]): Tally["sources"] {
  const counts = new Map<string, number>();
  for (const { url } of connectors.flatMap(({ evidence }) => evidence)) {
    const [, repository] = /^https:\/\/github\.com\/([^/]+\/[^/]+)\//.exec(url) ?? [];
    const place = repository ?? "sites";
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const found = [...counts].map(([place, sources]) => ({ place, sources }));
  return found.toSorted((one, other) => other.sources - one.sources || (one.place < other.place ? -1 : 1));
}
