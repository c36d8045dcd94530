/** Sends a hundred thousand malformed bodies to one process. */
import { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { sendBodies } from "../bodies/send-bodies.ts";
import type { PartOptions } from "./part.ts";

/** Several keys, since valid bodies count against their rate limits. */
const keysOfCustomer = 30;

export async function bodiesPart({ bodies, seed, say }: PartOptions): Promise<string[]> {
  await using fleet = await Fleet.start({ services: null });
  const operator = fleet.operator();
  const { workspace, keys } = await operator.customer({ credit: "1000", keys: keysOfCustomer });
  const startedAt = performance.now();
  const { answers, problems, problemsInAll } = await sendBodies({
    url: fleet.url(),
    keys: keys.map(({ key }) => key),
    seed,
    count: bodies,
    progress: (sent) => say(`${sent} of ${bodies} sent`),
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  say(`${bodies} bodies of seed ${seed} in ${seconds.toFixed(0)} s: ${tallied(answers)}`);
  await until(async () => (await operator.show(workspace)).reserved_usd === "0.000000000");
  const [gateway] = fleet.gateways;
  if (gateway?.process.running !== true) problems.push("the process has ended");
  if (gateway?.process.output.includes("internal_error")) problems.push("the log has an internal error");
  const { ok, broken } = await operator.verify();
  if (!ok) problems.push(`the ledger is broken: ${JSON.stringify(broken)}`);
  if (problemsInAll > problems.length) problems.push(`and ${problemsInAll - problems.length} more`);
  return problems;
}

export function tallied(counts: Record<string, number>): string {
  const entries = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
  return entries.map(([name, count]) => `${count} ${name}`).join(", ");
}
