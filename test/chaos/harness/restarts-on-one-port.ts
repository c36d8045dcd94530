/** Restarts gateways of one port one after another, while each request opens its own connection. No connection may be lost. */
import { Fleet } from "../../support/servers/fleet.ts";
import { ownServices } from "../../support/servers/own-services.ts";
import { until } from "../../support/until.ts";
import { ShortConnections } from "./load/short-connections.ts";

export interface RestartsPlan {
  /** The least number of connections. The restarts are spread over them. */
  connections: number;
  restarts: number;
  leaveMs: number;
  say(line: string): void;
}

export interface RestartsResult {
  opened: number;
  answered: number;
  repeated: number;
  /** Each connection without a complete answer of 200, and what breaks the ledger. */
  violations: string[];
}

const lanes = 32;
const keysOfCustomer = 60;
const progressMsMax = 300_000;

export async function runRestartsOnOnePort(plan: RestartsPlan): Promise<RestartsResult> {
  const { connections, restarts, leaveMs, say } = plan;
  await using services = await ownServices();
  if (services === null) throw new Error("There are no servers");
  const environment = { SHUTDOWN_LEAVE_MS: String(leaveMs), LOG_LEVEL: "info" };
  await using fleet = await Fleet.start({ services: services.urls, gateways: 1, workers: 2, environment });
  const port = fleet.gateways[0]?.port ?? 0;
  await fleet.addGateway(port);
  await untilListening(fleet.gateways.at(-1));
  const { keys } = await fleet.operator().customer({ credit: "1000", keys: keysOfCustomer });
  const load = new ShortConnections({ port, keys: keys.map(({ key }) => key), lanes });
  for (let restart = 0; restart < restarts; restart++) {
    await until(() => load.opened >= (connections * restart) / restarts, progressMsMax);
    const leaving = fleet.gateways[restart]?.process;
    leaving?.signal("SIGTERM");
    await leaving?.exited;
    await fleet.addGateway(port);
    await untilListening(fleet.gateways.at(-1));
    say(
      `restart ${restart + 1}: ${load.opened} connections opened, ${load.repeated} with a second SYN, ${load.lost.length} lost`,
    );
  }
  await until(() => load.opened >= connections, progressMsMax);
  await load.stop();
  await fleet.ready();
  const { ok, broken } = await fleet.operator().verify();
  const { opened, answered, repeated, lost } = load;
  return { opened, answered, repeated, violations: [...lost, ...(ok ? [] : [`the ledger: ${JSON.stringify(broken)}`])] };
}

async function untilListening(gateway: Fleet["gateways"][number] | undefined): Promise<void> {
  await gateway?.process.says('"event":"listening"', progressMsMax);
}
