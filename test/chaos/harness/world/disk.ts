/** A small disk for the data of Weir's processes, so that it can be filled. Mounting it requires root. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

const sizeMegabytes = 64;

export class Disk implements AsyncDisposable {
  readonly path: string;
  /** Why the disk cannot be filled; null: it can. */
  readonly problem: string | null;

  private constructor(path: string, problem: string | null) {
    this.path = path;
    this.problem = problem;
  }

  /** Falls back to an ordinary folder where no disk can be mounted. */
  static async mount(path: string): Promise<Disk> {
    await mkdir(path, { recursive: true });
    const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMegabytes}m`, "tmpfs", path], {
      encoding: "utf8",
    });
    return new Disk(
      path,
      status === 0 ? null : `no disk can be mounted here (${(stderr ?? "").trim() || "there is no mount command"})`,
    );
  }

  /** Fills all free space. */
  fill(): void {
    for (let bytes = 1 << 20; bytes >= 1 << 10; bytes >>= 1) {
      while (this.#write(bytes));
    }
  }

  empty(): void {
    rmSync(join(this.path, "ballast"), { recursive: true, force: true });
  }

  unmount(): void {
    if (this.problem === null) spawnSync("umount", ["--lazy", this.path]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unmount();
  }

  #write(bytes: number): boolean {
    try {
      writeFileSync(join(this.path, "ballast"), new Uint8Array(bytes), { flag: "a" });
      return true;
    } catch {
      return false;
    }
  }
}
