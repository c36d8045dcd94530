import { createConnection } from "node:net";

export interface Exchange {
  port: number;
  /** Sent when the connection is open. */
  send: string;
  /** Ends the exchange. */
  expect: RegExp;
}

const answerMsMax = 2_000;

/** Sends one request to a local server in its own protocol. Resolves with the reply. @throws Error for another reply */
export function exchange({ port, send, expect }: Exchange): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = createConnection({ port, host: "127.0.0.1" });
    const fail = (why: string) => {
      socket.destroy();
      reject(new Error(`Cannot talk to the server on port ${port}: ${why}`));
    };
    socket.setTimeout(answerMsMax, () => fail("no answer in time"));
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => fail(`it answered "${said}"`));
    socket.on("connect", () => socket.write(send));
    socket.on("data", (data) => {
      said += data.toString();
      if (!expect.test(said)) return;
      resolve(said);
      socket.destroy();
    });
  });
}
