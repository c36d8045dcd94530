/** Parses addresses of repositories as people paste them. */
import { repositoryAddressCharactersMax } from "../limits.ts";
import { DomainError } from "../../accounts/errors.ts";

export interface RepositoryAddress {
  provider: "github" | "gitlab";
  /** The address for people. */
  origin: string;
  /** `owner/name`, at GitLab with all groups. */
  path: string;
}

/** Addresses of the platforms' APIs, without a slash at the end. */
export interface HostUrls {
  github: string;
  gitlab: string;
}

/**
 * `https://host/owner/name`, with or without `.git` and page paths of the repository, or git's own `git@host:owner/name.git`.
 * @throws DomainError that says what an address must be
 */
export function parseRepositoryAddress(text: string, urls: HostUrls): RepositoryAddress {
  const url = urlOf(text.trim());
  const shown = JSON.stringify(text.slice(0, repositoryAddressCharactersMax));
  if (url === null)
    throw new DomainError(
      "invalid_field",
      `${shown} is no address of a repository: one such as https://github.com/owner/name is needed`,
    );
  if (url.username !== "" || url.password !== "") {
    throw new DomainError(
      "invalid_field",
      "The address has a user or a password in it: leave them out, and connect the workspace to the platform with a token",
    );
  }
  const provider = providerOf(url, urls);
  if (provider === null) {
    const hosts = `${hostOf(urls.github)} and ${hostOf(urls.gitlab)}`;
    throw new DomainError(
      "invalid_field",
      `No platform is known at ${JSON.stringify(url.host)}: ${hosts} are; import a checkout with weir repository import PATH`,
    );
  }
  const path = pathOf(url, provider);
  if (path === null) {
    throw new DomainError("invalid_field", `${shown} names no repository: an address such as ${url.origin}/owner/name is needed`);
  }
  return { provider, origin: url.origin, path };
}

function urlOf(text: string): URL | null {
  const [, host, path] = /^(?:ssh:\/\/)?git@([\w.-]+)[:/](?!\/)(.+)$/.exec(text) ?? [];
  const url = URL.parse(host === undefined || path === undefined ? text : `https://${host}/${path}`);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : null;
}

/** The public hosts stand for the configured API; http is only allowed for one that is configured on this machine. */
function providerOf({ host, protocol }: URL, urls: HostUrls): RepositoryAddress["provider"] | null {
  if (protocol === "https:" && (host === "github.com" || host === "www.github.com")) return "github";
  if (protocol === "https:" && host === "gitlab.com") return "gitlab";
  const own = (["github", "gitlab"] as const).filter((provider) => {
    const api = new URL(urls[provider]);
    return api.host === host && (protocol === "https:" || protocol === api.protocol);
  });
  return own[0] ?? null;
}

function pathOf({ pathname }: URL, provider: RepositoryAddress["provider"]): string | null {
  const [beforePages = ""] = pathname.split("/-/", 1);
  const parts = beforePages.split("/").filter((part) => part !== "");
  const named = provider === "github" ? parts.slice(0, 2) : parts;
  const path = named.join("/").replace(/\.git$/, "");
  const isValid = named.length >= 2 && named.every((part) => /^[\w.-]{1,255}$/.test(part) && !/^\.+$/.test(part));
  return isValid && !path.endsWith("/") ? path : null;
}

function hostOf(api: string): string {
  const { host } = new URL(api);
  return host === "api.github.com" ? "github.com" : host;
}
