/** Imports a repository from its platform, with the workspace's token if it has one. */
import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import { findToken } from "../../connectors/connections/find-token.ts";
import type { SafeFetch } from "../../http/outbound/safe-fetch.ts";
import { DeadlineError, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { repositoryFetchMs } from "../limits.ts";
import type { SbomStoreParts } from "../projects/store-sbom.ts";
import type { SbomReader } from "../sboms/reader/reader.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { authorize, writers } from "../../accounts/workspaces/authorize.ts";
import { github } from "./hosts/github.ts";
import { gitlab } from "./hosts/gitlab.ts";
import { HostApi } from "./hosts/host-api.ts";
import type { HostedRepository } from "./hosts/repository-host.ts";
import { parseRepositoryAddress, type HostUrls, type RepositoryAddress } from "./repository-address.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { ImportedRepository } from "./schema.ts";
import { storeRepository } from "./store-repository.ts";

const hosts = { github, gitlab };
/** The connectors whose connections contain a token, and the form field with it. */
const tokenField = "personal_access_token";

export interface ImportParts extends SbomStoreParts {
  clock: Clock;
  sboms: SbomReader;
  keyring: Keyring;
  callHosts: SafeFetch;
  hostUrls: HostUrls;
}

interface HostedImport {
  actor: Actor;
  workspace: WorkspaceId;
  url: string;
  /** Id or exact name; null names the project after the repository. */
  project: string | null;
}

/** @throws DomainError that says what to change, or why the document cannot be stored */
export async function importHosted(
  { actor, workspace, url, project }: HostedImport,
  parts: ImportParts,
): Promise<ImportedRepository> {
  authorize(actor, { roles: writers, action: "import a repository" });
  const address = parseRepositoryAddress(url, parts.hostUrls);
  const token = await tokenFor(address, { workspace, sql: parts.sql, keyring: parts.keyring });
  const found = await fetched(address, token, parts);
  const origin = { provider: address.provider, repository: `${address.origin}/${found.name}` };
  return storeRepository({ actor, workspace, project, name: found.name, origin, found }, parts);
}

interface TokenOf {
  workspace: WorkspaceId;
  sql: Queries;
  keyring: Keyring;
}

async function tokenFor({ provider }: RepositoryAddress, { workspace, sql, keyring }: TokenOf): Promise<string | null> {
  try {
    const token = await findToken({ workspace, connector: provider, field: tokenField }, { sql, keyring });
    if (token === null || /^[\u0021-\u007e]+$/.test(token)) return token;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
  }
  throw new DomainError(
    "invalid_field",
    `The token of the workspace's connection to ${hosts[provider].title} cannot be used: replace its credentials`,
  );
}

async function fetched(address: RepositoryAddress, token: string | null, parts: ImportParts): Promise<HostedRepository> {
  const host = hosts[address.provider];
  const leaving = new AbortController();
  const api = new HostApi({
    call: parts.callHosts,
    clock: parts.clock,
    base: parts.hostUrls[address.provider],
    headers: host.headers(token),
    title: host.title,
    repository: address.path,
    hasToken: token !== null,
    signal: leaving.signal,
  });
  try {
    return await withDeadline(parts.clock, repositoryFetchMs, "The platform", host.files(address.path, api));
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    const advice = "try again, or import a checkout with weir repository import PATH";
    throw new DomainError(
      "invalid_field",
      `${host.title} did not give all lock files within ${repositoryFetchMs / 1000} s: ${advice}`,
    );
  } finally {
    leaving.abort();
  }
}
