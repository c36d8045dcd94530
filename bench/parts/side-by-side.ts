/** Runs all contenders at the same time, each with its own load generator, so that they can be measured within seconds of each other. */
import type { Running, Subject } from "../contenders/contender.ts";
import type { Installation, Installed } from "../contenders/installation.ts";
import { instantModel } from "../contenders/provider.ts";
import { LoadGenerator } from "../measure/load-generator.ts";
import { pause } from "../until.ts";

/** One contender, ready for its next load. */
export interface Side {
  subject: Subject;
  running: Pick<Running, "target" | "usage" | "settled">;
  /** Separate generators, so that the keys of one contender do not fill the heap for another. */
  generator: LoadGenerator;
}

/** A running installation. */
export interface RunningInstallation {
  name: string;
  installed: Installed;
  sides: Side[];
  /** Resident bytes of all its processes, when it was ready. */
  idleBytes: number;
}

const warmUpConnections = "64";
const idleMs = 5_000;

/** @param stack stops everything, in the opposite order */
export async function startAll(installations: Installation[], stack: AsyncDisposableStack): Promise<RunningInstallation[]> {
  const started: RunningInstallation[] = [];
  for (const installation of installations) {
    const installed = stack.use(await installation.start());
    const sides = installed.subjects.map(({ subject, target }) => {
      return { subject, running: { ...installed, target }, generator: stack.use(new LoadGenerator()) };
    });
    started.push({ name: installation.name, installed, sides, idleBytes: residentBytes(installed) });
  }
  return started;
}

/** Sends load until connections are open, keys have been used, and the hot code is compiled. */
export async function warmUp({ subject, running, generator }: Side): Promise<void> {
  const words = ["--warm-up", "0", "--seconds", String(subject.warmUpSeconds), "--connections", warmUpConnections];
  await generator.load([...running.target, "--model", subject.model(instantModel), ...words]);
  await running.settled?.();
}

/** The CPU use of each contender without any load: CPU seconds a second, by process. */
export async function idleCores(started: RunningInstallation[]): Promise<{ name: string; cores: Record<string, number> }[]> {
  const before = started.map(({ installed }) => installed.usage());
  const startedAt = performance.now();
  await pause(idleMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  return started.map(({ name, installed }, n) => {
    const share = (process: string, cpuSeconds: number) => (cpuSeconds - (before[n]?.[process]?.cpuSeconds ?? 0)) / seconds;
    const after = Object.entries(installed.usage());
    const cores = after.map(([process, { cpuSeconds }]) => [process, Number(share(process, cpuSeconds).toFixed(4))]);
    return { name, cores: Object.fromEntries(cores) as Record<string, number> };
  });
}

export function residentBytes({ usage }: Pick<Running, "usage">): number {
  return Object.values(usage()).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
}
