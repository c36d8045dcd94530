import type { Facts } from "./facts.ts";

/** Above this a rate was asked for and not held. */
const heldMsMax = 1_000;

/** A run in which Weir failed a single request is not a result; others' failures are printed beside their figures. */
export function failuresOf({ hotPath, streams, soak }: Facts): string[] {
  const hot = (hotPath?.measurements ?? [])
    .filter(({ contender, result }) => contender.startsWith("Weir") && result.failedInAll > 0)
    .map(({ contender, load, round, result }) => said(`${contender}, ${load}, round ${round}`, result.failedInAll, result.codes));
  const streamed = (streams?.turns ?? [])
    .filter(({ contender, failed }) => contender.startsWith("Weir") && failed > 0)
    .map(({ contender, round, failed, codes }) => said(`${contender}, streams, round ${round}`, failed, codes));
  const held = (soak?.result.sendLatenessMs?.p99 ?? 0) <= heldMsMax;
  const behind = soak && !held ? [`soak: ${soak.perSecond} /s were not kept up with: requests waited for a connection`] : [];
  const soaked = soak && soak.result.failedInAll > 0 ? [said("soak", soak.result.failedInAll, soak.result.codes)] : [];
  return [...hot, ...streamed, ...soaked, ...behind];
}

function said(where: string, count: number, codes: Record<string, number>): string {
  return `${where}: ${count} failed ${JSON.stringify(codes)}`;
}
