/** Sends a flood of different unknown keys, while the requests of another workspace must stay fast. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Result } from "../../../bench/load/tally.ts";
import { tallied } from "./bodies.ts";
import { startGoodTraffic, degradation, resultLine, warmUpSeconds } from "./good-traffic.ts";
import type { PartOptions } from "./part.ts";

export async function wrongKeysPart({ wrongKeys, goodRequests, seconds, say }: PartOptions): Promise<string[]> {
  await using traffic = await startGoodTraffic({ seconds });
  const { load, goodKeys } = traffic;
  const wrong = join(traffic.folder, "wrong-keys");
  const count = wrongKeys * (seconds + warmUpSeconds);
  await writeFile(wrong, Array.from({ length: count }, () => `platform-api-${randomBytes(32).toString("hex")}`).join("\n"));
  say(`${traffic.served}: ${goodRequests} good requests/s without an attack`);
  const undisturbed = await load(goodKeys, goodRequests);
  say(`with ${wrongKeys} wrong keys/s, all different`);
  const [during, flood] = await Promise.all([load(goodKeys, goodRequests), load(wrong, wrongKeys)]);
  say(`without the attack: ${resultLine(undisturbed)}`);
  say(`during the attack:  ${resultLine(during)}`);
  say(`wrong keys: ${(flood.endedInAll / (seconds + warmUpSeconds)).toFixed(0)} answers/s, ${tallied(flood.statuses)}`);
  return judged(during, flood);
}

function judged(during: Result, flood: Result): string[] {
  const other = Object.keys(flood.statuses).filter((status) => status !== "401");
  return [...degradation(during), ...(other.length === 0 ? [] : [`wrong keys were answered with ${other.join(", ")}`])];
}
