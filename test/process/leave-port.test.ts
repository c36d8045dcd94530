/** docs/explanation/how-it-runs.md promises that a gateway which leaves a shared port loses no connection. */
import { expect, test } from "bun:test";
import { freePort } from "../../scripts/services/free-port.ts";
import { ShortConnections } from "../chaos/harness/load/short-connections.ts";
import { OurProcess } from "../support/processes/process.ts";
import { until } from "../support/until.ts";

const startServer = async (port: number): Promise<OurProcess> => {
  const server = new OurProcess({ arguments: ["test/support/processes/leaving-server.ts", String(port)], environment: {} });
  await server.says("listening");
  return server;
};

test.skipIf(process.platform !== "linux")(
  "a busy server that leaves a shared port loses none of the connections that arrive meanwhile",
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
