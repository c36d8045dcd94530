/**
 * Redis by the npm package `redis`, for runtimes without Bun's client. It could reconnect by itself, queue commands and end them after a
 * time; all that is switched off, since a link never connects again and its caller has the deadlines (connection.ts).
 */
import { createClient } from "redis";
import type { ConnectRedis } from "./connection.ts";

export const connectPackageClient: ConnectRedis = ({ url, connectMsMax, closed }) => {
  const client = createClient({
    url: url.reveal(),
    socket: { reconnectStrategy: false, connectTimeout: connectMsMax },
    // Deadlines are the caller's: the package would create an AbortSignal for each command.
    commandOptions: { timeout: 0 },
    disableClientInfo: true,
    maintNotifications: "disabled",
  });
  let isClosed = false;
  client.on("error", (reason: unknown) => {
    if (!isClosed) closed(reason);
    isClosed = true;
    // After bytes that it cannot parse, the package would continue with replies that belong to other commands.
    if (client.isOpen) client.destroy();
  });
  // A connection closed while it is being made would still be opened.
  client.on("connect", () => isClosed && client.destroy());
  // The error has been reported, and the command that waits rejects with it.
  client.connect().catch(() => {});
  return {
    send: (command, parameters) => client.sendCommand([command, ...parameters]),
    close() {
      isClosed = true;
      client.destroy();
    },
  };
};
