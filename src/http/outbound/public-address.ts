/**
 * Decides which addresses are globally reachable, by IANA's registries of special purposes (iana-ipv4-special-registry and
 * iana-ipv6-special-registry, as of 2025-10). An IPv6 address that embeds an IPv4 address is as reachable as that one.
 */
import { isIP } from "node:net";

type Range = readonly [first: bigint, bits: number];

const v4Bits = 32;
const v6Bits = 128;

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

/** All global unicast addresses; those outside have special purposes. */
const globalV6 = range("2000::/3");
const notGlobalV6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].map(range);

/** IPv6 ranges that embed an IPv4 address, and how many bits follow it. */
const embeddings: { range: Range; after: number }[] = [
  { range: range("::ffff:0:0/96"), after: 0 },
  { range: range("64:ff9b::/96"), after: 0 },
  { range: range("2002::/16"), after: 80 },
];

/** @param address in any spelling that Node's `isIP` accepts; other texts are not reachable */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return isGlobalV4(v4Number(address));
  if (family !== 6 || address.includes("%")) return false;
  return isGlobalV6(v6Number(address));
}

function isGlobalV4(number: bigint): boolean {
  return !notGlobalV4.some((special) => holds(special, number, v4Bits));
}

function isGlobalV6(number: bigint): boolean {
  const embedding = embeddings.find(({ range }) => holds(range, number, v6Bits));
  if (embedding) return isGlobalV4(BigInt.asUintN(v4Bits, number >> BigInt(embedding.after)));
  return holds(globalV6, number, v6Bits) && !notGlobalV6.some((special) => holds(special, number, v6Bits));
}

function holds([first, bits]: Range, number: bigint, width: number): boolean {
  const rest = BigInt(width - bits);
  return number >> rest === first >> rest;
}

function range(text: string): Range {
  const [address = "", bits = ""] = text.split("/");
  return [isIP(address) === 4 ? v4Number(address) : v6Number(address), Number(bits)];
}

function v4Number(address: string): bigint {
  return address.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
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
