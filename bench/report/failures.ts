import type { Measurement } from "../measure/measure.ts";
import { requestsAllowed } from "../overspend/limit.ts";
import { passed } from "../overspend/send.ts";
import type { Facts } from "./facts.ts";

/** Above this 99th percentile of late sending, the rate was not reached. */
const sentLateMsMax = 500;

/** A run with a single failed request of Weir is invalid. Failures of other contenders are printed with their figures. */
export function failuresOf(facts: Facts): string[] {
  const { peers, streams, soak, catalog, lists, usage, console } = facts;
  const failed = measuredOf(facts).flatMap(([part, all]) =>
    all.filter(({ result }) => result.failedInAll > 0).map((one) => failureLine(`${part}: ${one.contender}, ${one.load}`, one)),
  );
  const streamed = (streams?.turns ?? [])
    .filter((turn) => isWeir(turn) && turn.failed > 0)
    .map(({ contender, round, failed: count, codes }) => {
      return failureLine(`stream: ${contender}`, { round, result: { failedInAll: count, codes } });
    });
  const soaked = soak && soak.result.failedInAll > 0 ? [failureLine("soak", { round: 1, result: soak.result })] : [];
  const held = (soak?.result.sendLatenessMs?.p99 ?? 0) <= sentLateMsMax;
  const behind = soak && !held ? [`soak: ${soak.perSecond} /s were not reached: requests waited for a connection`] : [];
  const read = (catalog?.cases ?? [])
    .filter((one) => one.failed > 0)
    .map(({ name, failed }) => `catalog, ${name}: ${failed} failed`);
  const differing = (lists?.differing ?? []).map((call) => `lists: the answer differs from the naive query's for ${call}`);
  const unequal = (usage?.differing ?? []).map(
    (question) => `usage: the answer differs from the sum of the generations for ${question}`,
  );
  const overspent = (peers?.overspend ?? [])
    .filter((one) => isWeir(one) && passed(one.first) + passed(one.again ?? {}) > requestsAllowed)
    .map(
      ({ case: what, first, again }) =>
        `peers: more than ${requestsAllowed} passed, ${what}: ${JSON.stringify({ first, again })}`,
    );
  return [
    ...failed,
    ...overspent,
    ...streamed,
    ...soaked,
    ...behind,
    ...read,
    ...differing,
    ...unequal,
    ...consoleFailures(console),
  ];
}

/** The measurements of Weir, by part. */
function measuredOf({ hotPath, peers, agent, bodies, embeddings, features, hosts, fleet }: Facts): [string, Measurement[]][] {
  return [
    ["hot-path", hotPath?.measurements.filter(isWeir) ?? []],
    ["peers", peers?.measurements.filter(isWeir) ?? []],
    ["agent", agent?.measurements.map(({ measurement }) => measurement).filter(isWeir) ?? []],
    ["bodies", bodies?.measurements.map(({ measurement }) => measurement).filter(isWeir) ?? []],
    ["embeddings", embeddings?.measurements.filter(isWeir) ?? []],
    ["features", features?.measurements ?? []],
    ["hosts", hosts?.measurements.map(({ measurement }) => measurement) ?? []],
    ["fleet", [...(fleet?.measurements ?? []), ...(fleet?.hot ?? [])].map(({ measurement }) => measurement)],
  ];
}

function consoleFailures(console: Facts["console"]): string[] {
  if (console === undefined) return [];
  const { pages, missing, traffic } = console;
  const unseen = pages
    .filter(({ failed }) => failed > 0)
    .map(({ visitor, page, statuses }) => `console, ${visitor} at ${page}: ${JSON.stringify(statuses)}`);
  const refused = traffic.flatMap(({ alone, beside, clicks, refreshed }, n) => [
    ...[alone, beside]
      .filter(({ failedInAll }) => failedInAll > 0)
      .map((result) => failureLine("console", { round: n + 1, result })),
    ...(Object.keys(clicks.statuses).some((status) => status !== "200")
      ? [`console, clicks of round ${n + 1}: ${JSON.stringify(clicks.statuses)}`]
      : []),
    ...(Object.keys(refreshed?.statuses ?? {}).some((status) => status !== "200" && status !== "304")
      ? [`console, pages that refresh themselves in round ${n + 1}: ${JSON.stringify(refreshed?.statuses)}`]
      : []),
  ]);
  return [...missing.map((path) => `console: bench/console/samples.ts has no parameter for ${path}`), ...unseen, ...refused];
}

function isWeir({ contender }: { contender: string }): boolean {
  return contender.startsWith("Weir");
}

interface Failed extends Pick<Measurement, "round" | "sweep"> {
  result: Pick<Measurement["result"], "failedInAll" | "codes">;
}

function failureLine(where: string, { round, sweep, result }: Failed): string {
  const place = sweep === undefined ? `round ${round}` : `round ${round}, sweep ${sweep}`;
  return `${where}, ${place}: ${result.failedInAll} failed ${JSON.stringify(result.codes)}`;
}
