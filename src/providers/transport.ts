/** How bytes get to a provider: over the network, or within the process for the sandbox. */
import type { UpstreamFailure } from "./provider.ts";

export interface PostInit {
  headers: Record<string, string>;
  body: string;
  /** Aborting gives the call up, answered or not. */
  signal: AbortSignal;
}

export interface Transport {
  /** null: it can be reached. A promise: that is being found out, and it tells what speaks against it, or null; it never rejects. */
  reach(url: URL, connectMs: number): Promise<UpstreamFailure | null> | null;
  post(url: URL, init: PostInit): Promise<Response>;
}
