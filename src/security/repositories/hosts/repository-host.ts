/** A platform that keeps repositories: how the lock files of one are asked for. */
import type { RepositoryFiles } from "../collected-files.ts";
import type { HostApi } from "./host-api.ts";

export interface HostedRepository extends RepositoryFiles {
  /** With its owner or groups, as the platform spells it: `owner/name`. */
  name: string;
}

export interface RepositoryHost {
  provider: "github" | "gitlab";
  /** For people. */
  title: string;
  /** Of every call. */
  headers(token: string | null): Record<string, string>;
  /** @param path `owner/name` @throws DomainError */
  files(path: string, api: HostApi): Promise<HostedRepository>;
}
