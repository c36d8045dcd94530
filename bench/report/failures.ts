import type { Measurement } from "../measure/measure.ts";
import type { Facts } from "./facts.ts";

/** Above this, in the 99th percentile, a rate was asked for and not held. */
const sentLateMsMax = 500;

/** A run in which Weir failed a single request is not a result; others' failures are printed beside their figures. */
export function failuresOf({ hotPath, bodies, features, fleet, streams, soak, catalog, lists }: Facts): string[] {
  const measured: [string, Measurement[]][] = [
    ["hot-path", hotPath?.measurements.filter(isWeir) ?? []],
    ["bodies", bodies?.measurements.map(({ measurement }) => measurement).filter(isWeir) ?? []],
    ["features", features?.measurements ?? []],
    ["fleet", fleet?.measurements.map(({ measurement }) => measurement) ?? []],
  ];
  const failed = measured.flatMap(([part, all]) =>
    all.filter(({ result }) => result.failedInAll > 0).map((one) => said(`${part}: ${one.contender}, ${one.load}`, one)),
  );
  const streamed = (streams?.turns ?? [])
    .filter((turn) => isWeir(turn) && turn.failed > 0)
    .map(({ contender, round, failed: count, codes }) => {
      return said(`stream: ${contender}`, { round, result: { failedInAll: count, codes } });
    });
  const soaked = soak && soak.result.failedInAll > 0 ? [said("soak", { round: 1, result: soak.result })] : [];
  const held = (soak?.result.sendLatenessMs?.p99 ?? 0) <= sentLateMsMax;
  const behind = soak && !held ? [`soak: ${soak.perSecond} /s were not kept up with: requests waited for a connection`] : [];
  const read = (catalog?.cases ?? [])
    .filter((one) => one.failed > 0)
    .map(({ name, failed }) => `catalog, ${name}: ${failed} failed`);
  const differing = (lists?.differing ?? []).map((call) => `lists: another answer than the naive one to ${call}`);
  return [...failed, ...streamed, ...soaked, ...behind, ...read, ...differing];
}

function isWeir({ contender }: { contender: string }): boolean {
  return contender.startsWith("Weir");
}

interface Failed extends Pick<Measurement, "round" | "sweep"> {
  result: Pick<Measurement["result"], "failedInAll" | "codes">;
}

function said(where: string, { round, sweep, result }: Failed): string {
  const place = sweep === undefined ? `round ${round}` : `round ${round}, sweep ${sweep}`;
  return `${where}, ${place}: ${result.failedInAll} failed ${JSON.stringify(result.codes)}`;
}
