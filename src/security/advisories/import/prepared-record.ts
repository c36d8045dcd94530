/**
 * A record ready to be stored: a few large strings, and only the parsed data that the import needs. A subprocess can send it quickly, while
 * parsing a record of the largest size would block the parent's event loop.
 */
import { elementText } from "../../../backing/sql-text.ts";
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
  /** Packages of known ecosystems, and the position of each entry in the record. */
  names: PackageName[];
  positions: number[];
  /** The entries as elements of a PostgreSQL array, separated by commas; then the whole record as one element. */
  entryElements: string;
  recordElement: string;
}

/** @returns the prepared record, or the reason why it is invalid, with the path of the fault */
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

/** Leaves out ranges of commits, which only the raw record keeps. */
function entriesOf({ affected }: Advisory) {
  return affected.flatMap(({ package: named, ranges, versions }, position) => {
    if (named === null || named.ecosystem === null) return [];
    const kept = ranges.filter(({ type }) => type !== "GIT").map(({ type, events }) => ({ type, events }));
    return [{ position, name: { ecosystem: named.ecosystem, name: named.name }, entry: { ranges: kept, versions } }];
  });
}
