import type { Disk } from "./disk.ts";
import type { Host } from "./host.ts";

/** Who has which folder of the shared data folder; the folder of a dead one is free. */
export class Folders {
  readonly dataDir = "/data";
  readonly #owners = new Map<string, Host>();
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
    disk.makeFolder(this.dataDir);
  }

  /** The first one that is free. */
  takeNumbered(host: Host): string {
    for (let number = 1; ; number++) {
      const folder = `${this.dataDir}/gateway-${number}`;
      if (this.takeIfFree(folder, host) === null) continue;
      this.#disk.makeFolder(folder);
      return folder;
    }
  }

  /** Whether a spool lies there that nobody has. */
  get hasOrphans(): boolean {
    return this.#disk.list(this.dataDir).some((name) => {
      const folder = `${this.dataDir}/${name}`;
      const owner = this.#owners.get(folder);
      const isOwned = owner && !owner.isDead;
      return !isOwned && this.#disk.list(folder).includes("spool") && this.#disk.list(`${folder}/spool`).length > 0;
    });
  }

  /** null: its owner lives. Disposing gives it back. */
  takeIfFree(folder: string, host: Host): AsyncDisposable | null {
    const owner = this.#owners.get(folder);
    if (owner && !owner.isDead) return null;
    this.#owners.set(folder, host);
    return { [Symbol.asyncDispose]: async () => void this.#owners.delete(folder) };
  }
}
