/**
 * Checks the address of a vendor that a user typed. The service calls it, so it must not lead into the service's own network.
 *
 * Names that are valid only within a network are refused by their endings. Which addresses are globally reachable follows IANA's
 * special-purpose registries (iana-ipv4-special-registry and iana-ipv6-special-registry, as of 2025-10). An IPv6 address that embeds an
 * IPv4 address is as reachable as that one. The addresses of a name are checked only when `safe-fetch.ts` connects.
 */
import { isIP } from "node:net";
import { isLoopback } from "../kernel/addresses.ts";
import { trimmedEnd } from "../kernel/text.ts";

/** The message says what the address must be; the caller adds the name of the field. */
export class BaseUrlError extends Error {
  override name = "BaseUrlError";
}

/**
 * Endings of names that are valid only within a network (RFC 6762, RFC 8375, ICANN's `.internal`), in Kubernetes, or in the hosts
 * files of Linux distributions, where `localhost.localdomain` is the machine itself.
 */
const privateSuffixes = ["localhost", "localdomain", "local", "internal", "svc", "home.arpa"];

/**
 * The URL standard normalizes every spelling of an address (hexadecimal, octal, one number, full-width digits, percent signs) before
 * the check.
 * @param query whether it may have one
 * @param loopback whether it may be of this machine, and then also without TLS
 * @throws BaseUrlError
 */
export function parseBaseUrl(text: string, { query = false, loopback = false } = {}): URL {
  const url = URL.parse(text.trim());
  const isOwnMachine = loopback && url !== null && isLoopbackOrigin(url.origin);
  if (url === null || (url.protocol !== "https:" && !isOwnMachine)) throw new BaseUrlError("an https address is needed");
  if (url.username !== "" || url.password !== "") throw new BaseUrlError("an address without a user and a password is needed");
  if ((url.search !== "" && !query) || url.hash !== "")
    throw new BaseUrlError('an address that ends before any "?" and "#" is needed');
  if (!isOwnMachine) requirePublicHost(url);
  return url;
}

/** Whether an origin of http or https is of this machine by its name, such as `http://localhost:8080`. */
export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** @throws BaseUrlError if the spelling of the host shows that it is within a network */
export function requirePublicHost({ hostname }: URL): void {
  const host = trimmedEnd(hostname, ".");
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) {
    if (!isPublicAddress(address)) throw new BaseUrlError("an address that is reachable from everywhere is needed");
    return;
  }
  const isPrivate = privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (isPrivate || !host.includes(".")) throw new BaseUrlError("a host with a public name is needed");
}

/** @param address in any spelling that Node's `isIP` accepts; other texts are not reachable */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return isGlobalV4(v4Number(address));
  if (family !== 6 || address.includes("%")) return false;
  return isGlobalV6(v6Number(address));
}

const notGlobalV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, and the reserved range above it with broadcast.
  "224.0.0.0/3",
].map(range);

const v4Bits = 32;

function isGlobalV4(number: bigint): boolean {
  return !notGlobalV4.some((special) => holds(special, number, v4Bits));
}

type Range = readonly [first: bigint, bits: number];

function holds([first, bits]: Range, number: bigint, width: number): boolean {
  const rest = BigInt(width - bits);
  return number >> rest === first >> rest;
}

function v4Number(address: string): bigint {
  return address.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
}

/** IPv6 ranges that embed an IPv4 address, and how many bits follow it. */
const embeddings: { range: Range; after: number }[] = [
  { range: range("::ffff:0:0/96"), after: 0 },
  { range: range("64:ff9b::/96"), after: 0 },
  { range: range("2002::/16"), after: 80 },
];

const v6Bits = 128;

/** All global unicast addresses; those outside have special purposes. */
const globalV6 = range("2000::/3");
const notGlobalV6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].map(range);

function isGlobalV6(number: bigint): boolean {
  const embedding = embeddings.find(({ range }) => holds(range, number, v6Bits));
  if (embedding) return isGlobalV4(BigInt.asUintN(v4Bits, number >> BigInt(embedding.after)));
  return holds(globalV6, number, v6Bits) && !notGlobalV6.some((special) => holds(special, number, v6Bits));
}

function range(text: string): Range {
  const [address = "", bits = ""] = text.split("/");
  return [isIP(address) === 4 ? v4Number(address) : v6Number(address), Number(bits)];
}

/** The URL standard gives every IPv6 address one spelling: lower-case groups of four digits, the longest run of zeros as `::`. */
function v6Number(address: string): bigint {
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = "", after] = spelled.split("::");
  const head = groupsOf(before);
  const tail = groupsOf(after ?? "");
  const groups = after === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  return groups.reduce((number, group) => (number << 16n) | BigInt(`0x${group}`), 0n);
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
