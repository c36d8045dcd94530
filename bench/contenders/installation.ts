/** Processes that are started and stopped together: of one contender, or of several that share them and differ only in their loads. */
import type { Contender, Running, Subject } from "./contender.ts";

export interface Installation {
  name: string;
  /** Resolves when it serves. */
  start(): Promise<Installed>;
}

export interface Installed extends Omit<Running, "target"> {
  subjects: { subject: Subject; target: Running["target"] }[];
}

/** An installation for a single contender. */
export function single(contender: Contender): Installation {
  return {
    name: contender.name,
    async start() {
      const { target, ...running } = await contender.start();
      return { ...running, subjects: [{ subject: contender, target }] };
    },
  };
}
