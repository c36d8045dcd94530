/** How bytes get to a provider: over the network, or within the process for the sandbox. */
import type { UpstreamFailure } from "./provider.ts";

export interface PostInit {
  headers: Record<string, string>;
  body: string;
  /** Aborting gives the call up, answered or not. */
  signal: AbortSignal;
}

export interface Transport {
  /** Resolves when the provider can be reached, with what speaks against it or null; never rejects. */
  reach(url: URL, connectMs: number): Promise<UpstreamFailure | null>;
  post(url: URL, init: PostInit): Promise<Response>;
}
