/** Advisories as an import leaves them, in a few words. */
import type { Database } from "../../../src/backing/backing.ts";
import { importRecords, type Imported } from "../../../src/security/advisories/import-records.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { osvRecord } from "./advisories.ts";

/** The 3.1 vectors of a 9.8 and a 5.4. */
export const criticalVector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
export const mediumVector = "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:N";

export interface IssueRow {
  id: bigint;
  name: string;
  names: string[];
  shared: string[];
  severity: string | null;
  basis: string | null;
  score: string | null;
  source: string | null;
  rank: number;
  description: string;
  withdrawn: boolean;
}

export class AdvisoryStore {
  readonly #sql: Database;
  readonly #now: () => number;
  #day = 0;

  /** @param now when imports are made, in milliseconds */
  constructor(sql: Database, now: () => number = Date.now) {
    this.#sql = sql;
    this.#now = now;
  }

  /** What the batch came to. */
  take(...records: unknown[]): Promise<Imported> {
    return importRecords(records, { sql: this.#sql, clock: { ...systemClock, now: this.#now } });
  }

  /** Each is a day newer than all before it. */
  async publish(...records: Record<string, unknown>[]): Promise<Imported> {
    this.#day++;
    const modified = new Date(Date.UTC(2026, 0, this.#day)).toISOString();
    const outcome = await this.take(...records.map((record) => ({ ...record, modified })));
    if (outcome.failures.length > 0) throw new Error(`Not taken: ${JSON.stringify(outcome.failures)}`);
    return outcome;
  }

  /** Those that have not ended, by their names. */
  async issues(): Promise<IssueRow[]> {
    return this.#sql<IssueRow[]>`
      SELECT id, name, severity, score, severity_source AS source, severity_basis AS basis, rank, description, withdrawn,
        array(SELECT name FROM vulnerability_names WHERE vulnerability_id = id AND NOT shared ORDER BY name) AS names,
        array(SELECT name FROM vulnerability_names WHERE vulnerability_id = id AND shared ORDER BY name) AS shared
      FROM vulnerabilities WHERE NOT ended ORDER BY name`;
  }

  /** Each issue as its names, shared ones in brackets. */
  async groups(): Promise<string[]> {
    return (await this.issues()).map(({ names, shared }) => [...names, ...shared.map((name) => `(${name})`)].join(" "));
  }

  async idOf(name: string): Promise<bigint | undefined> {
    return (await this.issues()).find((issue) => issue.name === name)?.id;
  }
}

/** A record about one package of npm, fixed in 2.0.0. */
export function about(id: string, { name = "lodash", ...fields }: Record<string, unknown> & { name?: string } = {}) {
  const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }] }];
  return osvRecord(id, { affected: [{ package: { ecosystem: "npm", name }, ranges }], ...fields });
}

export function scored(type: string, score: string): Record<string, unknown> {
  return { severity: [{ type, score }] };
}
