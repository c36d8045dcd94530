/**
 * A record as it is stored: texts, few and large, and of everything else as little as what follows from it needs. So a process of its
 * own may make it and hand it over quickly: a record of the largest size as objects would hold the receiver's thread.
 */
import { elementText } from "../../../backing/array-text.ts";
import { digestOf } from "../../../kernel/digest.ts";
import type { PackageName } from "../../versions/package-name.ts";
import type { Advisory } from "../advisory.ts";
import { factsOf, type IssueFacts } from "../issues/issue-facts.ts";
import { readAdvisory } from "../read-advisory.ts";
import { RecordError } from "../reading/record-error.ts";

export interface PreparedRecord {
  id: string;
  modified: string;
  aliases: string[];
  /** In hexadecimal. */
  digest: string;
  facts: IssueFacts;
  /** Packages of the seven ecosystems, and the place in the record of what it says of each. */
  names: PackageName[];
  positions: number[];
  /** What it says of each, as elements of PostgreSQL's arrays, between commas; and the whole record, as one. */
  entryElements: string;
  recordElement: string;
}

/** @returns the reason where it cannot be stored, saying where the record is wrong */
export function readRecord(raw: unknown): PreparedRecord | { reason: string } {
  try {
    return prepared(raw);
  } catch (error) {
    if (error instanceof RecordError) return { reason: error.message };
    throw error;
  }
}

/** @throws RecordError */
function prepared(raw: unknown): PreparedRecord {
  const advisory = readAdvisory(raw);
  const { id, modified, aliases } = advisory;
  const entries = entriesOf(advisory);
  return {
    id,
    modified,
    aliases,
    digest: digestOf(raw),
    facts: factsOf(advisory),
    names: entries.map(({ name }) => name),
    positions: entries.map(({ position }) => position),
    entryElements: entries.map(({ entry }) => elementText(JSON.stringify(entry))).join(","),
    recordElement: elementText(JSON.stringify(raw)),
  };
}

/** Commits are no versions: what a record says of them is kept in the record alone. */
function entriesOf({ affected }: Advisory) {
  return affected.flatMap(({ package: told, ranges, versions }, position) => {
    if (told === null || told.ecosystem === null) return [];
    const kept = ranges.filter(({ type }) => type !== "GIT").map(({ type, events }) => ({ type, events }));
    return [{ position, name: { ecosystem: told.ecosystem, name: told.name }, entry: { ranges: kept, versions } }];
  });
}
