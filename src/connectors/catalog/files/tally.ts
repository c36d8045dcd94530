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
  checked: Checked;
  /** Connectors of which at least one set of credentials declares how it is tested. */
  probes: number;
}

/**
 * Connectors with a specific form whose every claim was read again since the day `since`: all of them on the vendor's own pages, or at
 * least one of them only with two other witnesses.
 */
export interface Checked {
  since: string;
  vendor: number;
  witnesses: number;
  unchecked: number;
}

/** The day on which the last review of the whole catalog began. */
const reviewBegan = "2026-11-28";

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
    checked: checkedOf(connectors),
    probes: connectors.filter(({ credential_sets: sets = [] }) => sets.some(({ probe }) => probe !== undefined)).length,
  };
}

function checkedOf(connectors: readonly Connector[]): Checked {
  const counts = { vendor: 0, witnesses: 0, unchecked: 0 };
  for (const connector of connectors) if (connector.form === "specific") counts[checkedBy(connector)] += 1;
  return { since: reviewBegan, ...counts };
}

function checkedBy(connector: Connector): "vendor" | "witnesses" | "unchecked" {
  const fresh = connector.evidence.filter(({ seen }) => seen >= reviewBegan);
  const sides = [...claimsOf(connector)].map((claim) => {
    const sources = fresh.filter((one) => one.for.includes(claim));
    if (sources.some(({ by }) => by === "vendor")) return "vendor";
    return sources.filter(({ by }) => by === "witness").length >= 2 ? "witnesses" : "unchecked";
  });
  if (sides.includes("unchecked")) return "unchecked";
  return sides.includes("witnesses") ? "witnesses" : "vendor";
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
