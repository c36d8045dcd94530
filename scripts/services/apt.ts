import { execFile } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { environmentOf, type Program } from "./program.ts";

const run = promisify(execFile);
const commandMsMax = 180_000;
const connectSecondsMax = 10;

/** Reads package lists and downloads packages; needs no rights and changes nothing of the system. */
export class Apt {
  readonly #folder: string;
  #options: string[] = [];

  /** @param folder for our own lists, if the system has none */
  constructor(folder: string) {
    this.#folder = folder;
  }

  static async isHere(): Promise<boolean> {
    const [apt, dpkg] = await Promise.all(["apt-get", "dpkg"].map((name) => run(name, ["--version"]).catch(() => null)));
    return apt !== null && dpkg !== null;
  }

  /** The system's package lists if they can provide `probe` (images have no lists, and lists become outdated), else our own. */
  async useLists(probe: string): Promise<void> {
    const usable = await this.#command("apt-get", ["download", "--print-uris", probe]).catch(() => null);
    if (usable === null) await this.#updateOwnLists();
  }

  /** The direct dependencies of packages, without virtual alternatives. */
  async dependencies(packages: string[]): Promise<string[]> {
    const { stdout } = await this.#command("apt-cache", ["depends", ...packages]);
    return [...new Set([...stdout.matchAll(/^ [ |](?:Pre)?Depends: ([a-z0-9.+-]+)$/gm)].map((match) => match[1] ?? ""))];
  }

  async notInstalled(packages: string[]): Promise<string[]> {
    const states = await Promise.all(
      packages.map((name) => run("dpkg-query", ["-W", "-f", "${db:Status-Status}", name]).catch(() => ({ stdout: "" }))),
    );
    return packages.filter((_, index) => states[index]?.stdout !== "installed");
  }

  /** Downloads packages and unpacks their files below `folder`. */
  async unpack(packages: string[], folder: string): Promise<void> {
    const archives = join(folder, "archives");
    await mkdir(archives, { recursive: true });
    await this.#download(packages, archives);
    for (const archive of await readdir(archives)) await run("dpkg", ["-x", join(archives, archive), folder]);
    await rm(archives, { recursive: true });
  }

  async lacksLibraries(program: Program): Promise<boolean> {
    const { stdout } = await run("ldd", [program.path], { env: environmentOf(program) });
    return stdout.includes("not found");
  }

  async #download(packages: string[], folder: string): Promise<void> {
    const command = () => this.#command("apt-get", ["download", ...packages], folder);
    try {
      await command();
    } catch (error) {
      // Lists that are older than the last update of a package name removed files.
      if (this.#options.length > 0) throw error;
      await this.#updateOwnLists();
      await command();
    }
  }

  async #updateOwnLists(): Promise<void> {
    const lists = join(this.#folder, "lists");
    await mkdir(join(lists, "partial"), { recursive: true });
    await mkdir(join(this.#folder, "archives", "partial"), { recursive: true });
    this.#options = ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${this.#folder}`];
    await this.#command("apt-get", ["update"]);
  }

  async #command(name: string, rest: string[], cwd = dirname(this.#folder)): Promise<{ stdout: string }> {
    await mkdir(cwd, { recursive: true });
    const waits = ["http", "https"].flatMap((scheme) => ["-o", `Acquire::${scheme}::Timeout=${connectSecondsMax}`]);
    const settings = ["-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=0", ...waits, ...this.#options];
    return await run(name, [...settings, ...rest], { cwd, timeout: commandMsMax, maxBuffer: 1 << 26 });
  }
}
