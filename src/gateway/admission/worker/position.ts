import type { Counters } from "../../../backing/counters.ts";
import { monthOf, type Clock } from "../../../kernel/clock.ts";
import type { SingleFlightLoads, Missing } from "./single-flight-loads.ts";
import type { AdmissionReply, PositionRequest } from "../message.ts";
import { loadRoundsMax, LoadDeadline } from "./load-deadline.ts";

interface PositionParts {
  counters: Counters;
  clock: Clock;
  loads: SingleFlightLoads;
}

/**
 * Credit, holds and this month's spend, loaded first if the counters lack them; "again" if the load takes too long.
 * @throws CountersUnavailableError
 */
export async function readPosition(
  { workspace, key, blocks = [] }: PositionRequest,
  { counters, clock, loads }: PositionParts,
): Promise<AdmissionReply> {
  const deadline = new LoadDeadline(clock);
  for (let round = 0; round < loadRoundsMax; round++) {
    const { account, keySpent, lent, now, blocks: held } = await counters.read(workspace, key, blocks);
    const month = monthOf(now);
    if (account !== null && (key === null || keySpent !== null)) {
      return {
        kind: "position",
        balance: account.balance.toString(),
        reserved: account.reserved.toString(),
        lent: lent.toString(),
        blocks: blocks.map((block) => (held.get(block) ?? 0n).toString()),
        keySpent: keySpent?.toString() ?? null,
        month,
      };
    }
    const missing: Missing =
      account === null || key === null ? { what: "workspace", workspace, month } : { what: "key", workspace, key, month };
    if (!(await deadline.wait([loads.run(missing)]))) break;
  }
  return { kind: "again" };
}
