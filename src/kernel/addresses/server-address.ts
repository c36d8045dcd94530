/** Reads the hosts of a server address, and whether the connection to them is encrypted. */

export interface ServerAddress {
  /** In lower case, an IPv6 address without brackets; empty if the address has none. */
  host: string;
  /** TLS with a verified server name; otherwise plain text. */
  encrypted: boolean;
}

const encryptedSchemes = ["tls:", "rediss:"];
/** Of PostgreSQL: https://www.postgresql.org/docs/current/libpq-ssl.html. All modes with TLS verify the server here. */
const encryptedModes = ["require", "verify-ca", "verify-full"];
const plainModes = ["disable"];

/** The addresses of several servers of one kind, separated by commas. A comma elsewhere, as in a password, separates nothing. */
export function addressesIn(value: string): string[] {
  const addresses: string[] = [];
  for (const piece of value.split(",")) {
    if (addresses.length === 0 || /^\w+:\/\//.test(piece.trimStart())) addresses.push(piece.trim());
    else addresses.push(`${addresses.pop()},${piece.trimEnd()}`);
  }
  return addresses;
}

/** An address with several hosts, separated by commas, as one for each: `postgres://user@one:5432,two:5432/weir`. */
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
  if (url === null || url.hostname.includes(",")) throw new Error("it is no address of one host");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const encrypted = url.protocol.startsWith("postgres") ? isEncryptedDatabase(url) : encryptedSchemes.includes(url.protocol);
  return { host, encrypted };
}

/**
 * Passwords, hashes of keys and charges go to the servers of a fleet. Across a network they need TLS with a verified server name,
 * unless an operator has named the host.
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
      const cure = `write it as ${example}, or, where its network is to be trusted, name the host in PLAINTEXT_HOSTS`;
      return `would reach ${host || "a host"} in plain text: ${cure}`;
    }
    return null;
  } catch (error) {
    return `is not usable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

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

/** Whether the host is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
