/** Keys that nobody has, all different, as fast as they come, while somebody else's requests are to be as quick as ever. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Result } from "../../../bench/load/tally.ts";
import { tallied } from "./bodies.ts";
import { startGoodTraffic, suffered, told, warmUpSeconds } from "./good-traffic.ts";
import type { PartOptions } from "./part.ts";

export async function wrongKeysPart({ wrongKeys, goodRequests, seconds, say }: PartOptions): Promise<string[]> {
  await using traffic = await startGoodTraffic({ seconds });
  const { load, goodKeys } = traffic;
  const wrong = join(traffic.folder, "wrong-keys");
  const count = wrongKeys * (seconds + warmUpSeconds);
  await writeFile(wrong, Array.from({ length: count }, () => `platform-api-${randomBytes(32).toString("hex")}`).join("\n"));
  say(`${traffic.served}: ${goodRequests} good requests/s alone`);
  const alone = await load(goodKeys, goodRequests);
  say(`and with ${wrongKeys} wrong keys/s, all different`);
  const [beside, flood] = await Promise.all([load(goodKeys, goodRequests), load(wrong, wrongKeys)]);
  say(`alone:  ${told(alone)}`);
  say(`beside: ${told(beside)}`);
  say(`wrong keys: ${(flood.endedInAll / (seconds + warmUpSeconds)).toFixed(0)} answers/s, ${tallied(flood.statuses)}`);
  return judged(beside, flood);
}

function judged(beside: Result, flood: Result): string[] {
  const other = Object.keys(flood.statuses).filter((status) => status !== "401");
  return [...suffered(beside), ...(other.length === 0 ? [] : [`wrong keys were answered with ${other.join(", ")}`])];
}
