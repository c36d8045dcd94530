/** A way to NATS that translates addresses, as between networks: NATS sees its clients under one that is none of theirs. */
import { createConnection, createServer, type AddressInfo } from "node:net";

/** Of a block that is reserved for documentation: no machine has it. */
const translated = "192.0.2.1";

export interface TranslatedNats extends AsyncDisposable {
  url: string;
}

export async function translateNats(url: string): Promise<TranslatedNats> {
  const { port, hostname } = new URL(url);
  const listener = createServer((client) => {
    const server = createConnection({ port: Number(port), host: hostname });
    client.pipe(server);
    server.once("data", (info) => {
      client.write(info.toString("latin1").replace(/"client_ip":"[^"]*"/, `"client_ip":"${translated}"`), "latin1");
      server.pipe(client);
    });
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on("error", () => {});
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.port = String((listener.address() as AddressInfo).port);
  return { url: through.href, [Symbol.asyncDispose]: async () => void listener.close() };
}
