/** A part of `npm run hostile`: an attack on a running service, which reports figures and broken promises. */

export interface PartOptions {
  seed: number;
  /** Malformed bodies. */
  bodies: number;
  /** Clients that never read. */
  readers: number;
  /** Wrong keys a second, good requests a second at the same time, and the duration. */
  wrongKeys: number;
  goodRequests: number;
  seconds: number;
  say: (line: string) => void;
}

/** @returns the broken promises */
export type Part = (options: PartOptions) => Promise<string[]>;
