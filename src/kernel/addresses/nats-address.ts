/** Reads the address of NATS: one server, or the servers of a cluster. */

/** The address of a NATS cluster: one or more servers. */
export interface NatsAddress {
  /** Each as `host:port`. */
  servers: string[];
  user: string | null;
  password: string | null;
  encrypted: boolean;
}

const natsPort = "4222";

/**
 * Each server of a NATS cluster as an address of its own; commas separate them. A server without scheme, user and password has those
 * of the one before it, as in `nats://user:password@one:4222,two:4222`.
 */
export function natsServers(address: string): string[] {
  const servers: string[] = [];
  let start = "";
  for (const part of address.split(/,(?=[a-z]+:\/\/)/)) {
    // A password may hold a comma.
    const at = part.lastIndexOf("@") + 1 || (part.includes("://") ? part.indexOf("://") + 3 : 0);
    if (at > 0) start = part.slice(0, at);
    for (const host of part.slice(at).split(",")) servers.push(start + host);
  }
  return servers;
}

/** @throws Error with the cause and without the address, which holds a password */
export function readNatsAddress(address: string): NatsAddress {
  const urls = natsServers(address).map((server) => {
    const url = URL.parse(server);
    if (url === null || url.hostname === "") throw new Error("it is no address of servers");
    return url;
  });
  const [first, ...others] = urls;
  if (first === undefined) throw new Error("it is no address of servers");
  const same = others.every(
    ({ protocol, username, password }) =>
      protocol === first.protocol && username === first.username && password === first.password,
  );
  if (!same) throw new Error("its servers have not all the same scheme, user and password");
  const { protocol, username, password } = first;
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || natsPort}`),
    user: username === "" ? null : decodeURIComponent(username),
    password: username === "" ? null : decodeURIComponent(password),
    encrypted: protocol === "tls:",
  };
}
