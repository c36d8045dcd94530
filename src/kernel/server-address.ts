/** What the address of a server says of the way to it: which host, and whether what goes there can be read on the way. */

export interface ServerAddress {
  /** In lower case, an IPv6 address without brackets; empty where the address names none. */
  host: string;
  /** Over TLS, to a server that proves its name; else in plain text. */
  encrypted: boolean;
}

const encryptedSchemes = ["tls:", "rediss:"];
/** Of PostgreSQL's: https://www.postgresql.org/docs/current/libpq-ssl.html. Whoever asks for TLS gets a server that is verified. */
const encryptedModes = ["require", "verify-ca", "verify-full"];
const plainModes = ["disable"];

/** @throws Error that says what is wrong without the address, which holds a password */
export function readServerAddress(address: string): ServerAddress {
  const url = URL.parse(address);
  if (url === null) throw new Error("it is no address of one host");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const encrypted = url.protocol.startsWith("postgres") ? isEncryptedDatabase(url) : encryptedSchemes.includes(url.protocol);
  return { host, encrypted };
}

/**
 * Passwords, hashes of keys and what is owed go to the servers of a fleet: across a network encrypted, to a server that proves its
 * name, unless a person has named the host.
 * @param options.example how the address is written where it is encrypted
 * @returns what is wrong, after the name of the address; null: nothing is
 */
export function addressProblem(
  address: string,
  { example, plainTextHosts }: { example: string; plainTextHosts: string[] },
): string | null {
  try {
    const { host, encrypted } = readServerAddress(address);
    const isAllowed = host !== "" && plainTextHosts.some((allowed) => allowed.toLowerCase() === host);
    if (encrypted || isLoopback(host) || isAllowed) return null;
    const cure = `write it as ${example}, or, where its network is to be trusted, name the host in PLAINTEXT_HOSTS`;
    return `would reach ${host || "a host"} in plain text: ${cure}`;
  } catch (error) {
    return `is not usable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isEncryptedDatabase({ searchParams }: URL): boolean {
  if (searchParams.has("ssl")) throw new Error('it has "ssl": write sslmode=verify-full, or sslmode=disable');
  const mode = searchParams.get("sslmode") ?? (searchParams.get("sslrootcert") === "system" ? "verify-full" : "disable");
  if (encryptedModes.includes(mode)) return true;
  if (plainModes.includes(mode)) return false;
  // "prefer" and "allow" take a server that proves nothing, or none of TLS at all: who sits in between decides.
  throw new Error(`sslmode is "${mode}": it takes verify-full, or disable`);
}

/** Whether what goes to the host stays on this machine. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
