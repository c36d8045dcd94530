import { projectUnknownsMax, scanFindingsMax } from "../../limits.ts";
import type { MatchCursor } from "../../scans/scan-progress.ts";
import type { Matched, Unknown } from "./match.ts";
import { recordMatches, recordUnknowns } from "./record-matches.ts";
import type { Scan } from "./scan.ts";

/** Collects the matches of a scan, and writes them in transactions of some hundred rows. */
export class MatchWriter {
  readonly #scan: Scan & { sbom: string };
  #waiting: Matched = { matches: [], unknowns: [] };
  #cursor: MatchCursor | null = null;
  /** The last package with unknown matches, and its versions that had one. */
  #noted = { package: 0n, versions: new Set<string>() };

  constructor(scan: Scan & { sbom: string }) {
    this.#scan = scan;
  }

  /** @param cursor the position of the scan after these matches */
  async take({ matches, unknowns }: Matched, cursor: MatchCursor): Promise<void> {
    const waiting = this.#waiting.matches.length + this.#waiting.unknowns.length;
    if (waiting > 0 && waiting + matches.length + unknowns.length > scanFindingsMax) await this.#write();
    this.#waiting.matches.push(...matches);
    this.#waiting.unknowns.push(...unknowns.filter((unknown) => this.#keeps(unknown)));
    this.#cursor = cursor;
  }

  /** Writes what is left. @returns false: the scan has more to do */
  async end(cursor = this.#cursor): Promise<false> {
    this.#cursor = cursor;
    if (cursor !== null) await this.#write();
    return false;
  }

  /** Stores the cursor with the last transaction. After a crash, rows that were written before it are written again, unchanged. */
  async #write(): Promise<void> {
    const { matches, unknowns } = this.#waiting;
    this.#waiting = { matches: [], unknowns: [] };
    if (unknowns.length > 0) await recordUnknowns(unknowns, this.#scan);
    this.#scan.progress.cursor = this.#cursor;
    await recordMatches(matches, this.#scan);
  }

  /** Keeps at least one unknown match for each version, so that no version looks as if it could be matched with every range. */
  #keeps({ package: id, version }: Unknown): boolean {
    const { progress } = this.#scan;
    if (this.#noted.package !== id) this.#noted = { package: id, versions: new Set() };
    const keeps = progress.unknown < projectUnknownsMax || !this.#noted.versions.has(version);
    this.#noted.versions.add(version);
    if (keeps) progress.unknown++;
    else progress.unknownLeftOut++;
    return keeps;
  }
}
