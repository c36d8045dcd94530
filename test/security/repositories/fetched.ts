/** The files of a repository through the real client, from a stub. */
import { createSafeFetch } from "../../../src/http/safe-fetch.ts";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import { github } from "../../../src/security/repositories/github.ts";
import { gitlab } from "../../../src/security/repositories/gitlab.ts";
import { HostApi } from "../../../src/security/repositories/host-api.ts";
import type { HostedRepository } from "../../../src/security/repositories/hosted-files.ts";
import { DomainError } from "../../../src/accounts/errors.ts";
import type { PlatformStub } from "./stub.ts";

interface Settings {
  path?: string;
  token?: string | null;
  clock?: Clock;
  signal?: AbortSignal;
}

export function filesFrom(
  platform: "github" | "gitlab",
  stub: Pick<PlatformStub, "url">,
  { path = platform === "github" ? "acme/app" : "acme/tools/app", token = null, clock = systemClock, signal }: Settings = {},
): Promise<HostedRepository> {
  const host = { github, gitlab }[platform];
  const origin = new URL(stub.url).origin;
  const api = new HostApi({
    call: createSafeFetch({ clock, configured: (asked) => asked === origin }),
    clock,
    base: stub.url,
    headers: host.headers(token),
    title: host.title,
    repository: path,
    hasToken: token !== null,
    signal: signal ?? new AbortController().signal,
  });
  return host.files(path, api);
}

/** The message of a refused import. */
export async function refusalOf(imported: Promise<unknown>): Promise<string> {
  const outcome = await imported.catch((error: unknown) => error);
  if (outcome instanceof DomainError) return outcome.message;
  throw new Error(`It was not refused as it should be: ${outcome instanceof Error ? outcome.stack : JSON.stringify(outcome)}`);
}
