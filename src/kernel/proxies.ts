/**
 * Finds the address of a client behind proxies that the operator names. A proxy appends the address that it was called from to
 * `X-Forwarded-For`, so the last one that is not a trusted proxy's is the client's. Everything before it may have been written by the
 * client itself and is ignored.
 */
import { BlockList, isIP } from "node:net";

/** A longer list cannot be a chain of proxies. */
const hopsMax = 32;

export class TrustedProxies {
  readonly #list = new BlockList();

  /** @param names addresses and networks such as 10.0.0.0/8 @throws TypeError for anything else, or for a network of all addresses */
  constructor(names: readonly string[]) {
    for (const name of names) this.#add(name);
  }

  #add(name: string): void {
    const [address = "", prefix, ...more] = name.split("/");
    const family = isIP(address);
    const bits = family === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : Number(/^\d{1,3}$/.test(prefix) ? prefix : Number.NaN);
    if (family === 0 || more.length > 0 || !(length >= 1 && length <= bits))
      throw new TypeError(`"${name}" is neither an address nor a network`);
    this.#list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }

  #has(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#list.check(address, family === 4 ? "ipv4" : "ipv6");
  }

  /** @returns null: unknown */
  clientOf(request: Request, server: Peers): string | null {
    const peer = peerAddress(request, server);
    if (peer === null || !this.#has(unmapped(peer))) return peer;
    let nearest = peer;
    const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").toReversed().slice(0, hopsMax);
    for (const hop of hops) {
      const address = addressIn(hop.trim());
      // A trusted proxy writes only addresses.
      if (address === null) return nearest;
      nearest = address;
      if (!this.#has(address)) return address;
    }
    return nearest;
  }
}

/** A server that knows the address of a connection's other end; null: it does not. */
export type Peers = { requestIP(request: Request): { address: string } | null } | null;

/** null: unknown. */
export function peerAddress(request: Request, server: Peers): string | null {
  return server?.requestIP(request)?.address ?? null;
}

/** A dual-stack socket shows IPv4 addresses as IPv6. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Some proxies add a port. */
function addressIn(hop: string): string | null {
  const [, bracketed] = /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(hop) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop) ?? [];
  const address = unmapped(bracketed ?? withPort ?? hop);
  return isIP(address) === 0 ? null : address;
}
