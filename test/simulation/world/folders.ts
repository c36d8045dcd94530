import type { Disk } from "./disk.ts";
import type { Host } from "./host.ts";

/** The owners of the subfolders of the shared data folder. The folder of a dead process is free. */
export class Folders {
  readonly dataDir = "/data";
  readonly #owners = new Map<string, Host>();
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
    disk.makeFolder(this.dataDir);
  }

  /** Takes the free folder with the lowest number. */
  takeNumbered(host: Host): string {
    for (let number = 1; ; number++) {
      const folder = `${this.dataDir}/gateway-${number}`;
      if (this.takeIfFree(folder, host) === null) continue;
      this.#disk.makeFolder(folder);
      return folder;
    }
  }

  /** Whether a folder without an owner contains a spool. */
  get hasOrphans(): boolean {
    return this.#disk.list(this.dataDir).some((name) => {
      const folder = `${this.dataDir}/${name}`;
      const owner = this.#owners.get(folder);
      const isOwned = owner && !owner.isDead;
      return !isOwned && this.#disk.list(folder).includes("spool") && this.#disk.list(`${folder}/spool`).length > 0;
    });
  }

  /** null: its owner lives. Disposing releases the folder. */
  takeIfFree(folder: string, host: Host): AsyncDisposable | null {
    const owner = this.#owners.get(folder);
    if (owner && !owner.isDead) return null;
    this.#owners.set(folder, host);
    return { [Symbol.asyncDispose]: async () => void this.#owners.delete(folder) };
  }
}
