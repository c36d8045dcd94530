/**
 * Imports a repository by its address: reads the default branch from GitHub or GitLab, and stores its lock files as the current SBOM of a
 * project. Importing the same lock files again changes nothing.
 *
 * The workspace's token is used if one of its connections has one; of several, the one with the newest credentials. It goes only to the
 * platform's API. An address may be `https://host/owner/name`, with or without `.git` and page paths, or git's own
 * `git@host:owner/name.git`; http is allowed only for a platform that is configured on this machine.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Queries } from "../../backing/backing.ts";
import { findToken } from "../../connectors/connections/connections.ts";
import type { SafeFetch } from "../../http/safe-fetch.ts";
import { DeadlineError, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { lineOf } from "../fields.ts";
import { operation } from "../operation.ts";
import { repositoryAddressCharactersMax, repositoryImportMs, repositoryFetchMs } from "../limits.ts";
import type { LockChoices } from "../lockfiles/formats.ts";
import { type SbomStoreParts, storeSbom } from "../projects/store-sbom.ts";
import type { SbomReader } from "../sboms/reader.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { HostApi } from "./host-api.ts";
import type { HostedRepository } from "./hosted-files.ts";
import { ImportedRepository, readInSubprocess } from "./read-repository.ts";
import type { RepositoryFiles } from "./repository-files.ts";

export const goToolchainTitle = "Whether Go's standard library counts, in the version of each go.mod's line toolchain, else go";
export const GoToolchain = Type.Boolean({ title: goToolchainTitle, description: "true or false", default: false });

export const importRepository = operation({
  title: "Import a repository",
  description:
    "Reads the lock files of a repository at GitHub or GitLab, stores them as its project's current SBOM, and requests a scan. " +
    "Call it again after changes; the same lock files change nothing.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  addition: true,
  deadlineMs: repositoryImportMs,
  input: Type.Object({
    url: lineOf({
      title: "Address of the repository, such as https://github.com/owner/name",
      min: 1,
      max: repositoryAddressCharactersMax,
    }),
    project: Type.Optional(
      lineOf({
        title: "Id or name of the project, created when new; the repository's own name when left out",
        min: 1,
        max: nameCharactersMax,
      }),
    ),
    go_toolchain: Type.Optional(GoToolchain),
  }),
  data: ImportedRepository,
  async handle({ input: { url, project = null, go_toolchain: goToolchain = false }, caller, parts }) {
    const { actor, workspace } = caller;
    const imported = await importHosted({ actor, workspace, url, project, choices: { goToolchain } }, parts);
    return { data: imported, message: sentences(imported) };
  },
});

const hosts = { github, gitlab };
/** Connectors are named like the platforms; their forms have the token in this field. */
const tokenField = "personal_access_token";

interface ImportParts extends SbomStoreParts {
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
  choices: LockChoices;
}

/** Imports a repository from its platform. @throws DomainError saying what to change, or why the document cannot be stored */
export async function importHosted(
  { actor, workspace, url, project, choices }: HostedImport,
  parts: ImportParts,
): Promise<ImportedRepository> {
  authorize(actor, { roles: writers, action: "import a repository" });
  const address = parseRepositoryAddress(url, parts.hostUrls);
  const token = await tokenFor(address, { workspace, sql: parts.sql, keyring: parts.keyring });
  const found = await fetched(address, token, parts);
  const origin = { provider: address.provider, repository: `${address.origin}/${found.name}` };
  return storeRepository({ actor, workspace, project, name: found.name, origin, found, choices }, parts);
}

interface RepositoryImport {
  actor: Actor;
  workspace: WorkspaceId;
  /** Id or exact name; null names the project after the repository. */
  project: string | null;
  /** Id or exact name; a new name creates a product; absent: the project keeps its product. */
  product?: string | null;
  /** The address of the repository. */
  name: string;
  origin: { provider: "git" | "archive" | "github" | "gitlab"; repository: string | null };
  found: RepositoryFiles;
  choices: LockChoices;
}

/**
 * Stores a repository's lock files as the current document of its project.
 * @throws DomainError if no lock file can be read, or the document cannot be stored
 */
export async function storeRepository(
  request: RepositoryImport,
  parts: SbomStoreParts & { sboms: SbomReader },
): Promise<ImportedRepository> {
  const { actor, workspace, product = null, name, origin, found, choices } = request;
  const project = request.project ?? name;
  const read = await readInSubprocess({ name, found, choices }, { sboms: parts.sboms, workspace });
  const { sbom, lockFiles, notRead, notPinned } = read;
  const stored = await storeSbom({ actor, workspace, project, product, origin, filename: null, sbom }, parts);
  return { ...stored, project, ...origin, lock_files: lockFiles, not_read: notRead, not_pinned: notPinned };
}

interface RepositoryAddress {
  provider: "github" | "gitlab";
  /** The address shown to people. */
  origin: string;
  /** `owner/name`; at GitLab including all groups. */
  path: string;
}

/** Addresses of the platforms' APIs, without a trailing slash. */
interface HostUrls {
  github: string;
  gitlab: string;
}

/** Parses an address as people paste it. @throws DomainError saying what an address must look like */
export function parseRepositoryAddress(text: string, urls: HostUrls): RepositoryAddress {
  const url = urlOf(text.trim());
  const shown = JSON.stringify(text.slice(0, repositoryAddressCharactersMax));
  if (url === null)
    throw new DomainError(
      "invalid_field",
      `${shown} is not the address of a repository: one such as https://github.com/owner/name is needed`,
    );
  if (url.username !== "" || url.password !== "") {
    throw new DomainError(
      "invalid_field",
      "The address has a user or a password in it: leave them out, and connect the workspace to the platform with a token",
    );
  }
  const provider = providerOf(url, urls);
  if (provider === null) {
    const known = `${hostOf(urls.github)} and ${hostOf(urls.gitlab)}`;
    throw new DomainError(
      "invalid_field",
      `No platform is known at ${JSON.stringify(url.host)}: ${known} are; import a checkout with weir repository import PATH`,
    );
  }
  const path = pathOf(url, provider);
  if (path === null) {
    throw new DomainError("invalid_field", `${shown} names no repository: an address such as ${url.origin}/owner/name is needed`);
  }
  return { provider, origin: url.origin, path };
}

function sentences({ project, lock_files, not_read, not_pinned, scan_status }: ImportedRepository): string {
  const packages = lock_files.reduce((sum, file) => sum + file.packages, 0);
  return [
    `${packages} packages of ${lock_files.length} lock files are in the project "${project}", whose scan is ${scan_status}`,
    not_read.length > 0 && `${not_read.length} lock files were not read: not_read says why`,
    not_pinned.length > 0 && "Packages without a pinned version are not watched: not_pinned names the first",
  ]
    .filter((sentence) => sentence !== false)
    .join(". ");
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

function urlOf(text: string): URL | null {
  const [, host, path] = /^(?:ssh:\/\/)?git@([\w.-]+)[:/](?!\/)(.+)$/.exec(text) ?? [];
  const url = URL.parse(host === undefined || path === undefined ? text : `https://${host}/${path}`);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : null;
}

/** The public hosts stand for the configured API; http is allowed only for one that is configured on this machine. */
function providerOf({ host, protocol }: URL, urls: HostUrls): RepositoryAddress["provider"] | null {
  if (protocol === "https:" && (host === "github.com" || host === "www.github.com")) return "github";
  if (protocol === "https:" && host === "gitlab.com") return "gitlab";
  const own = (["github", "gitlab"] as const).filter((provider) => {
    const api = new URL(urls[provider]);
    return api.host === host && (protocol === "https:" || protocol === api.protocol);
  });
  return own[0] ?? null;
}

function hostOf(api: string): string {
  const { host } = new URL(api);
  return host === "api.github.com" ? "github.com" : host;
}

function pathOf({ pathname }: URL, provider: RepositoryAddress["provider"]): string | null {
  const [beforePages = ""] = pathname.split("/-/", 1);
  const parts = beforePages.split("/").filter((part) => part !== "");
  const named = provider === "github" ? parts.slice(0, 2) : parts;
  const path = named.join("/").replace(/\.git$/, "");
  const isValid = named.length >= 2 && named.every((part) => /^[\w.-]{1,255}$/.test(part) && !/^\.+$/.test(part));
  return isValid && !path.endsWith("/") ? path : null;
}
