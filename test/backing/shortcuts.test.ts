/** Questions spare themselves the way over NATS where they can, and lose nothing where they cannot. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { connect, type NatsConnection } from "nats";
import type { Server } from "../../scripts/services/server.ts";
import type { Bus } from "../../src/backing/bus.ts";
import { readBeat } from "../../src/backing/distributed/beat.ts";
import { DistributedBus } from "../../src/backing/distributed/bus.ts";
import { encodeFrame } from "../../src/backing/distributed/shortcuts/frames.ts";
import { decodeOffer, encodeOffer, type ShortcutOffer } from "../../src/backing/distributed/shortcuts/offer.ts";
import { plainAddress } from "../../src/backing/distributed/shortcuts/plain-address.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { translateNats } from "../support/translated-nats.ts";
import { until } from "../support/until.ts";
import { openNats, serversMissing } from "./servers.ts";

const question = new TextEncoder().encode("may I?");
const askSubjects = "weir.ask.>";
const beatSubject = "weir.beat.ask.admission";

describe.skipIf(serversMissing)("shortcuts past NATS", () => {
  let server: Server;
  let stack: AsyncDisposableStack;
  let bus: Bus;
  let nats: NatsConnection;
  /** Questions that went over NATS. */
  let overNats: number;

  beforeAll(async () => void (server = await openNats()), 60_000);
  afterAll(() => server.stop());

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    bus = openBus();
    const { username, password, host } = new URL(server.url);
    nats = await connect({ servers: host, user: username, pass: password });
    overNats = 0;
    nats.subscribe(askSubjects, { callback: () => void overNats++ });
    await until(() => bus.connected());
  });
  afterEach(async () => {
    await stack.disposeAsync();
    await nats.close();
  });

  function openBus(): Bus {
    return stack.use(new DistributedBus({ url: new Secret(server.url), name: "test", clock: systemClock, log: silentLog }));
  }

  async function serve(answer: () => Promise<Uint8Array> = async () => question): Promise<{ asked: number }> {
    const count = { asked: 0 };
    stack.use(await openBus().serve("admission", () => (count.asked++, answer())));
    return count;
  }

  /** Resolves once a question was answered that NATS has not seen. */
  async function shortened(): Promise<void> {
    await until(async () => {
      const before = overNats;
      await bus.request("admission", question);
      await nats.flush();
      return overNats === before;
    });
  }

  async function offerHeard(): Promise<ShortcutOffer> {
    const heard = Promise.withResolvers<ShortcutOffer>();
    nats.subscribe(beatSubject, {
      callback: (_error, { data }) => {
        const offer = decodeOffer(readBeat(data).offer);
        if (offer) heard.resolve(offer);
      },
    });
    return await heard.promise;
  }

  /** Beats under a name of its own, with this offer, and answers over NATS. */
  async function impersonate(offer: Pick<ShortcutOffer, "port">): Promise<void> {
    nats.subscribe("weir.ask.admission.other", { callback: (_error, message) => void message.respond(question) });
    const text = encodeOffer({ host: "127.0.0.1", askPassword: "ask", servePassword: "serve", ...offer });
    const beating = setInterval(() => nats.publish(beatSubject, `other ${text}`), 50);
    stack.defer(() => clearInterval(beating));
    await until(() => bus.width("admission") === 2);
  }

  /** Listens where the asker is told that a server does. */
  async function listen(says: string, hears: (socket: Socket, said: string) => void): Promise<{ port: number }> {
    const listener = createServer((socket) => {
      socket.on("data", (chunk) => hears(socket, chunk.toString("latin1")));
      socket.on("error", () => {});
      socket.write(says);
    });
    stack.defer(() => void listener.close());
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return listener.address() as AddressInfo;
  }

  test("are taken as soon as a server was heard, whatever the size of question and answer", async () => {
    const large = new Uint8Array(900_000).fill(7);
    await serve(async () => large);
    await shortened();
    const { payload } = await bus.request("admission", large);
    expect(Buffer.from(payload).equals(large)).toBe(true);
  });

  test("are open to nobody who did not read the offer on NATS: nothing is taken, and the connection ends", async () => {
    const count = await serve();
    const { host, port } = await offerHeard();
    const closed = Promise.withResolvers<void>();
    const socket = createConnection({ host, port });
    socket.on("close", () => closed.resolve());
    socket.on("error", () => {});
    socket.write("0".repeat(32));
    socket.write(encodeFrame({ question: 0, sending: 0, payload: question }));
    await closed.promise;
    expect(count.asked).toBe(0);
  });

  test("are not taken to another process at such an address: it hears no question", async () => {
    let heard = "";
    await impersonate(await listen("anything else", (_socket, said) => (heard += said)));
    await until(() => heard === "ask");
    for (let number = 0; number < 10; number++) await bus.request("admission", question);
    expect({ heard, overNats }).toEqual({ heard: "ask", overNats: 10 });
  });

  test("are offered by nobody whom NATS sees under an address that is not its own", async () => {
    const { url } = stack.use(await translateNats(server.url));
    const far = stack.use(new DistributedBus({ url: new Secret(url), name: "far", clock: systemClock, log: silentLog }));
    stack.use(await far.serve("admission", async () => question));
    await until(() => bus.width("admission") === 2);
    for (let number = 0; number < 10; number++) await bus.request("admission", question);
    await nats.flush();
    expect(overNats).toBe(10);
  });

  test("that cannot be reached cost nothing: questions go over NATS", async () => {
    await impersonate({ port: 1 });
    const replies = await Promise.all(Array.from({ length: 10 }, () => bus.request("admission", question)));
    expect(replies.map(({ resent }) => resent)).toEqual(Array(10).fill(false));
  });

  test("that are lost take along what was asked on them and no more, and are made again", async () => {
    let isFirst = true;
    const { port } = await listen("serve", (socket, said) => {
      if (said === "ask") return;
      // What is asked comes back as the answer, but for the first question.
      if (isFirst) socket.destroy();
      else socket.write(said, "latin1");
      isFirst = false;
    });
    await impersonate({ port });
    let lost = 0;
    await until(async () => {
      await bus.request("admission", question).catch(() => lost++);
      return !isFirst;
    });
    await shortened();
    expect(lost).toBe(1);
  }, 15_000);

  test("on which a question was left unanswered are not taken until something comes on them again", async () => {
    const held = Promise.withResolvers<Uint8Array>();
    let next: Promise<Uint8Array> = Promise.resolve(question);
    const count = await serve(() => {
      const answer = next;
      next = Promise.resolve(question);
      return answer;
    });
    await shortened();
    next = held.promise;
    const { asked } = count;
    const late = bus.request("admission", question);
    await until(() => count.asked > asked);
    const before = overNats;
    await until(async () => (await bus.request("admission", question), overNats > before));
    held.resolve(question);
    expect(await late).toMatchObject({ resent: false });
    await shortened();
  });
});

describe("a shortcut's address", () => {
  const clear = new Secret("nats://weir:secret@bus:4222");

  test("is the one that NATS sees", () => {
    expect(plainAddress(clear, { client_ip: "10.0.0.7" })).toBe("10.0.0.7");
    expect(plainAddress(clear, undefined)).toBeNull();
  });

  test("is told to nobody where NATS is spoken to in secret: a shortcut is not encrypted", () => {
    expect(plainAddress(new Secret("tls://bus:4222"), { client_ip: "10.0.0.7" })).toBeNull();
    expect(plainAddress(clear, { client_ip: "10.0.0.7", tls_required: true })).toBeNull();
    expect(plainAddress(clear, { client_ip: "10.0.0.7", tls_available: true })).toBeNull();
  });
});
