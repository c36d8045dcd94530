/** A server that can tell who is at a connection's other end; null: this one cannot. */
export type Peers = { requestIP(request: Request): { address: string } | null } | null;

/** null: not known. */
export function peerAddress(request: Request, server: Peers): string | null {
  return server?.requestIP(request)?.address ?? null;
}
