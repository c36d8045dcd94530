import type { Counters } from "../../../backing/counters.ts";
import { monthOf, type Clock } from "../../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { SingleFlightLoads, Missing } from "./single-flight-loads.ts";
import type { AdmissionReply } from "../message.ts";
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
  { workspace, key }: { workspace: WorkspaceId; key: KeyId | null },
  { counters, clock, loads }: PositionParts,
): Promise<AdmissionReply> {
  const deadline = new LoadDeadline(clock);
  for (let round = 0; round < loadRoundsMax; round++) {
    const { account, keySpent, now } = await counters.read(workspace, key);
    const month = monthOf(now);
    if (account !== null && (key === null || keySpent !== null)) {
      const { balance, reserved, available } = account;
      return {
        kind: "position",
        balance: balance.toString(),
        reserved: reserved.toString(),
        available: available.toString(),
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
