/** A part of `npm run hostile`: something done to a running service, with figures, and whether what is promised held. */

export interface PartOptions {
  seed: number;
  /** Malformed bodies. */
  bodies: number;
  /** Clients that never read. */
  readers: number;
  /** Wrong keys a second, and beside them good requests a second, for so long. */
  wrongKeys: number;
  goodRequests: number;
  seconds: number;
  say: (line: string) => void;
}

/** @returns what of the promise did not hold; none: all did */
export type Part = (options: PartOptions) => Promise<string[]>;
