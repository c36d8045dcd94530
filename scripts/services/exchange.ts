import { createConnection } from "node:net";

export interface Exchange {
  port: number;
  /** Sent when the connection stands. */
  send: string;
  /** What ends the exchange. */
  expect: RegExp;
}

const answerMsMax = 2_000;

/** One question to a server on loopback in its own words. Resolves to what it said. @throws Error when it says something else */
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
