/** What is started and stopped as one: mostly a contender alone, or several that differ only in what a load asks of the same processes. */
import type { Contender, Running, Subject } from "./contender.ts";

export interface Installation {
  name: string;
  /** Resolves when it serves. */
  start(): Promise<Installed>;
}

export interface Installed extends Omit<Running, "target"> {
  subjects: { subject: Subject; target: Running["target"] }[];
}

/** A contender with processes of its own. */
export function alone(contender: Contender): Installation {
  return {
    name: contender.name,
    async start() {
      const { target, ...running } = await contender.start();
      return { ...running, subjects: [{ subject: contender, target }] };
    },
  };
}
