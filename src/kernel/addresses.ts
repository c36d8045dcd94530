/**
 * Reads the addresses of servers in variables: their hosts, and whether the connection to them is encrypted.
 *
 * Passwords, key hashes and charges are sent to a fleet's servers. Over a network they need TLS with a verified server name, unless the
 * operator has named the host. One variable may name several hosts, or the servers of a NATS cluster. Errors never quote an address, since
 * it may hold a password.
 */

interface ServerAddress {
  /** In lower case, an IPv6 address without brackets; empty if the address has none. */
  host: string;
  /** TLS with a verified server name; otherwise plain text. */
  encrypted: boolean;
}

const encryptedSchemes = ["tls:", "rediss:"];

/** The addresses of several servers of one kind, separated by commas. A comma elsewhere, as in a password, separates nothing. */
export function addressesIn(value: string): string[] {
  const addresses: string[] = [];
  for (const piece of value.split(",")) {
    if (addresses.length === 0 || /^\w+:\/\//.test(piece.trimStart())) addresses.push(piece.trim());
    else addresses.push(`${addresses.pop()},${piece.trimEnd()}`);
  }
  return addresses;
}

/** Splits an address with several hosts, separated by commas, into one per host: `postgres://user@one:5432,two:5432/weir`. */
export function hostAddresses(address: string): string[] {
  const begin = address.indexOf("//") + 2;
  const length = address.slice(begin).search(/[/?#]/);
  const end = length < 0 ? address.length : begin + length;
  const hostsAt = Math.max(begin, address.lastIndexOf("@", end) + 1);
  const hosts = address.slice(hostsAt, end).split(",");
  return hosts.map((host) => `${address.slice(0, hostsAt)}${host}${address.slice(end)}`);
}

/** @throws Error with the cause and without the address, which holds a password */
export function readServerAddress(address: string): ServerAddress {
  const url = URL.parse(address);
  if (url === null || url.hostname.includes(",")) throw new Error("it is not the address of one host");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const encrypted = url.protocol.startsWith("postgres") ? isEncryptedDatabase(url) : encryptedSchemes.includes(url.protocol);
  return { host, encrypted };
}

/**
 * Checks that an address is encrypted or may be plain text.
 * @param options.example an encrypted address
 * @returns the problem, to follow the name of the variable; null: there is none
 */
export function addressProblem(
  address: string,
  { example, plainTextHosts }: { example: string; plainTextHosts: string[] },
): string | null {
  try {
    const addresses = address.startsWith("postgres") ? hostAddresses(address) : [address];
    for (const { host, encrypted } of addresses.map(readServerAddress)) {
      const isAllowed = host !== "" && plainTextHosts.some((allowed) => allowed.toLowerCase() === host);
      if (encrypted || isLoopback(host) || isAllowed) continue;
      const cure = `write it as ${example}, or, if its network is trusted, name the host in PLAINTEXT_HOSTS`;
      return `would reach ${host || "a host"} in plain text: ${cure}`;
    }
    return null;
  } catch (error) {
    return `is not usable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Whether the host is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** The address of a NATS cluster: one or more servers. */
interface NatsAddress {
  /** Each as `host:port`. */
  servers: string[];
  user: string | null;
  password: string | null;
  encrypted: boolean;
}

const natsPort = "4222";

/**
 * Each server of a NATS cluster as a separate address; commas separate them. A server without scheme, user and password has those of the
 * one before it, as in `nats://user:password@one:4222,two:4222`.
 */
export function natsServers(address: string): string[] {
  const servers: string[] = [];
  let start = "";
  for (const part of address.split(/,(?=[a-z]+:\/\/)/)) {
    // A password may contain a comma.
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
    if (url === null || url.hostname === "") throw new Error("it is not an address of servers");
    return url;
  });
  const [first, ...others] = urls;
  if (first === undefined) throw new Error("it is not an address of servers");
  const same = others.every(
    ({ protocol, username, password }) =>
      protocol === first.protocol && username === first.username && password === first.password,
  );
  if (!same) throw new Error("its servers do not all have the same scheme, user and password");
  const { protocol, username, password } = first;
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || natsPort}`),
    user: username === "" ? null : decodeURIComponent(username),
    password: username === "" ? null : decodeURIComponent(password),
    encrypted: protocol === "tls:",
  };
}

/** PostgreSQL's `sslmode` values with TLS: https://www.postgresql.org/docs/current/libpq-ssl.html. Here all of them verify the server. */
const encryptedModes = ["require", "verify-ca", "verify-full"];
const plainModes = ["disable"];

function isEncryptedDatabase({ searchParams }: URL): boolean {
  const choice = searchParams.get("target_session_attrs") ?? "read-write";
  if (choice !== "read-write" && choice !== "primary")
    throw new Error(`target_session_attrs is "${choice}": it takes read-write`);
  if (searchParams.has("ssl")) throw new Error('it has "ssl": write sslmode=verify-full, or sslmode=disable');
  const mode = searchParams.get("sslmode") ?? (searchParams.get("sslrootcert") === "system" ? "verify-full" : "disable");
  if (encryptedModes.includes(mode)) return true;
  if (plainModes.includes(mode)) return false;
  // "prefer" and "allow" accept an unverified server or one without TLS, so an attacker in between decides.
  throw new Error(`sslmode is "${mode}": it takes verify-full, or disable`);
}
