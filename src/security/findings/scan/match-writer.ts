import { projectUnknownsMax, scanFindingsMax } from "../../limits.ts";
import type { MatchCursor } from "../../scans/scan-progress.ts";
import type { Matched, Unknown } from "./match.ts";
import { recordMatches, recordUnknowns } from "./record-matches.ts";
import type { Scan } from "./scan.ts";

/** Gathers what a scan matched, and writes it in transactions of some hundred rows. */
export class MatchWriter {
  readonly #scan: Scan & { sbom: string };
  #waiting: Matched = { matches: [], unknowns: [] };
  #cursor: MatchCursor | null = null;
  /** The package whose versions are noted here, of which something unknown was kept. */
  #told = { package: 0n, versions: new Set<string>() };

  constructor(scan: Scan & { sbom: string }) {
    this.#scan = scan;
  }

  /** @param cursor how far the scan is with it */
  async take({ matches, unknowns }: Matched, cursor: MatchCursor): Promise<void> {
    const waiting = this.#waiting.matches.length + this.#waiting.unknowns.length;
    if (waiting > 0 && waiting + matches.length + unknowns.length > scanFindingsMax) await this.#write();
    this.#waiting.matches.push(...matches);
    this.#waiting.unknowns.push(...unknowns.filter((unknown) => this.#keeps(unknown)));
    this.#cursor = cursor;
  }

  /** @returns false: there is more to do */
  async end(cursor = this.#cursor): Promise<false> {
    this.#cursor = cursor;
    if (cursor !== null) await this.#write();
    return false;
  }

  /** The pass moves with the last of it: what was written before and not noted is written once more, which changes nothing. */
  async #write(): Promise<void> {
    const { matches, unknowns } = this.#waiting;
    this.#waiting = { matches: [], unknowns: [] };
    if (unknowns.length > 0) await recordUnknowns(unknowns, this.#scan);
    this.#scan.progress.cursor = this.#cursor;
    await recordMatches(matches, this.#scan);
  }

  /** One for each version at least, so that none of them looks as if it could be held against everything. */
  #keeps({ package: id, version }: Unknown): boolean {
    const { progress } = this.#scan;
    if (this.#told.package !== id) this.#told = { package: id, versions: new Set() };
    const keeps = progress.unknown < projectUnknownsMax || !this.#told.versions.has(version);
    this.#told.versions.add(version);
    if (keeps) progress.unknown++;
    else progress.unknownLeftOut++;
    return keeps;
  }
}
