/** A platform that hosts repositories, as the source of lock files. */
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
  /** Sent with every call. */
  headers(token: string | null): Record<string, string>;
  /** @param path `owner/name` @throws DomainError */
  files(path: string, api: HostApi): Promise<HostedRepository>;
}
