/** A server that knows the address of a connection's other end; null: it does not. */
export type Peers = { requestIP(request: Request): { address: string } | null } | null;

/** null: unknown. */
export function peerAddress(request: Request, server: Peers): string | null {
  return server?.requestIP(request)?.address ?? null;
}
