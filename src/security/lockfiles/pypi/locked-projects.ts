import { lockFileVersionsMax } from "../../limits.ts";
import { LockFileError } from "../lock-file-error.ts";
import { quoted } from "../lock-graph.ts";
import { projectKey } from "./project-name.ts";

interface Known {
  version: string | null;
  /** null for a folder of the repository. */
  purl: string | null;
}

/** The packages of a lock file by name. A file may have several versions of one, for different Pythons or platforms. */
export class LockedProjects {
  readonly #projects = new Map<string, Known[]>();

  /** @throws LockFileError if a package has more versions than in any real lock file */
  add(name: string, project: Known): void {
    const key = projectKey(name);
    const known = this.#projects.get(key);
    if (known === undefined) this.#projects.set(key, [project]);
    else if (known.push(project) > lockFileVersionsMax)
      throw new LockFileError(`has more than ${lockFileVersionsMax} versions of ${quoted(name)}`);
  }

  /** @param version null for all versions */
  find(name: string, version: string | null = null): string[] {
    const known = this.#projects.get(projectKey(name)) ?? [];
    return known.flatMap((project) =>
      project.purl !== null && (version === null || project.version === version) ? project.purl : [],
    );
  }
}
