import { trimmedEnd } from "../../../src/kernel/text.ts";

/**
 * The origin of a git checkout, from its configuration.
 * Source: https://git-scm.com/docs/git-config#_syntax
 * @returns the URL without user, password and a final `.git`; null: the configuration names none, or one on this machine
 */
export function originOf(config: string): string | null {
  const [, section = ""] = /^[ \t]*\[remote "origin"\]([^[]*)/m.exec(config) ?? [];
  const written = /^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$/m.exec(section)?.[1] ?? "";
  const [, host, path] = /^(?:[\w.-]+@)?([\w-]+\.[\w.-]+):(?!\/)(\S+)$/.exec(written) ?? [];
  const url = URL.parse(host === undefined ? written : `ssh://${host}/${path ?? ""}`);
  if (url === null || !/^(?:https?|ssh|git):$/.test(url.protocol) || url.host === "") return null;
  const scheme = url.protocol === "http:" ? "http" : "https";
  return `${scheme}://${url.hostname}${trimmedEnd(url.pathname, "/").replace(/\.git$/, "")}`;
}
