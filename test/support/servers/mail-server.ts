/** A real SMTP server that keeps its mails, can refuse them, and can go away and come back on its port. */
import { SMTPServer } from "smtp-server";

export interface TakenMail {
  from: string;
  to: string[];
  /** Header and body as received. */
  text: string;
}

type Answer = { code: number; when: "recipient" | "message" } | null;

export class TestMailServer implements AsyncDisposable {
  readonly taken: TakenMail[] = [];
  /** Called before each answer; null accepts the mail. */
  refusal: () => Answer = () => null;
  /** Called when a message is complete, before the client gets its answer. */
  onMessage: (mail: TakenMail) => void | Promise<void> = () => {};
  #server: SMTPServer | null = null;
  #port = 0;

  static async start(): Promise<TestMailServer> {
    const server = new TestMailServer();
    await server.open();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS", "AUTH"],
      onRcptTo: (_address, _session, callback) => callback(this.#failure("recipient")),
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", async () => {
          const failure = this.#failure("message");
          if (failure) return callback(failure);
          const { mailFrom, rcptTo } = session.envelope;
          const mail = {
            from: mailFrom ? mailFrom.address : "",
            to: rcptTo.map(({ address }) => address),
            text: Buffer.concat(chunks).toString("utf8"),
          };
          this.taken.push(mail);
          await this.onMessage(mail);
          callback();
        });
      },
    });
    server.on("error", () => {});
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    const address = server.server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
    this.#server = server;
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway();
  }

  #failure(when: "recipient" | "message"): Error | null {
    const refused = this.refusal();
    if (refused?.when !== when) return null;
    return Object.assign(new Error("The test refuses this"), { responseCode: refused.code });
  }
}

/** A header of a message, unfolded; undefined if it has none. */
export function headerOf({ text }: TakenMail, name: string): string | undefined {
  const [head = ""] = text.split("\r\n\r\n");
  const lines = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  const found = lines.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  if (found.length > 1) throw new Error(`The header ${name} is there ${found.length} times`);
  return found[0]?.slice(name.length + 1).trim();
}
