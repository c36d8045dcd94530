/** What docs/operations.md says of a port that gateways share: who leaves it loses no connection. */
import { expect, test } from "bun:test";
import { freePort } from "../../scripts/services/free-port.ts";
import { ShortConnections } from "../chaos/harness/load/short-connections.ts";
import { OurProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

const startServer = async (port: number): Promise<OurProcess> => {
  const server = new OurProcess({ arguments: ["test/support/leaving-server.ts", String(port)], environment: {} });
  await server.says("listening");
  return server;
};

test.skipIf(process.platform !== "linux")(
  "a server that leaves a shared port loses none of the connections that come all the while, however busy it is",
  async () => {
    const port = await freePort();
    await using leaving = await startServer(port);
    await using staying = await startServer(port);
    const load = new ShortConnections({ port, keys: ["none"], lanes: 32 });
    await until(() => load.answered > 500);
    leaving.signal("SIGTERM");
    expect(await leaving.exited).toBe(0);
    const { answered } = load;
    await until(() => load.answered > answered + 500);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(staying.running).toBe(true);
  },
  30_000,
);
