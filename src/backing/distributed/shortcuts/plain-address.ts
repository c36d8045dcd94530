import type { ServerInfo } from "nats";
import type { Secret } from "../../../kernel/secret.ts";

/**
 * Our address as NATS sees it, where what we say to it is not encrypted; else null. Who wants encryption wants it everywhere: there
 * are no shortcuts then.
 */
export function plainAddress(
  url: Secret,
  info: Pick<ServerInfo, "client_ip" | "tls_available" | "tls_required"> | undefined,
): string | null {
  if (info?.tls_available || info?.tls_required || url.reveal().startsWith("tls:")) return null;
  return info?.client_ip ?? null;
}
