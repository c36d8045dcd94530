/** Opens a connection to see whether that works, and closes it. */
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../kernel/clock.ts";
import { UpstreamFailure } from "./provider.ts";

export interface Dial {
  url: URL;
  connectMs: number;
  clock: Clock;
}

/** @returns null when the connection stood, TLS included; upstream_timeout after `connectMs`; else upstream_error */
export function dial({ url, connectMs, clock }: Dial): Promise<UpstreamFailure | null> {
  return new Promise((resolve) => {
    const secure = url.protocol === "https:";
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(url.port) || (secure ? 443 : 80);
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = secure ? connectTls({ host, port, ...named }) : connectTcp({ host, port });
    const finish = (failure: UpstreamFailure | null) => {
      cancel();
      socket.destroy();
      resolve(failure);
    };
    const cancel = clock.after(connectMs, () =>
      finish(new UpstreamFailure("upstream_timeout", `no connection within ${connectMs} ms`)),
    );
    socket.once(secure ? "secureConnect" : "connect", () => finish(null));
    socket.on("error", (error) => finish(new UpstreamFailure("upstream_error", `no connection: ${nameOf(error)}`, null, error)));
  });
}

/** The system's name of what went wrong, such as ECONNREFUSED; the message could carry anything. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
