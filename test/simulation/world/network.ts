/** The bus between simulated processes: requests, events, notifications and surveys, with exactly the guarantees of the port. */
import {
  BusTimeoutError,
  BusUnavailableError,
  type Bus,
  type Delivered,
  type Replay,
  type Reply,
  type ScatterMember,
  type ScatterService,
  type Service,
  type Topic,
} from "../../../src/backing/bus.ts";
import { decodeSettlements } from "../../../src/gateway/journal/settlement.ts";
import {
  admissionDeadlineMs,
  admissionResendMs,
  busCallMs,
  busSilenceMsMax,
  eventPublishMs,
  messagesInFlightPerWorker,
  scatterServerMemoryMs,
  workerSilenceMsMax,
} from "../../../src/backing/limits.ts";
import type { Chance } from "../chance.ts";
import { EventLog } from "./event-log.ts";
import type { Host } from "./host.ts";
import type { Scheduler } from "../scheduler.ts";
import type { NetworkConditions } from "./network-conditions.ts";
import type { Plan } from "../plan.ts";

interface NetworkParts {
  plan: Pick<Plan, "startMs">;
  scheduler: Scheduler;
  chance: Chance;
  conditions: NetworkConditions;
}

const eventsReplayedAtOnce = 3;

type RequestHandler = (payload: Uint8Array) => Promise<Uint8Array>;
interface Of<T> {
  host: Host;
  handler: T;
}

export class Network {
  readonly events: EventLog;
  /** Called for each generation that is reported as expired. */
  onExpiry: (generation: string) => void = () => {};
  readonly #parts: NetworkParts;
  #servers: Of<RequestHandler>[] = [];
  #listeners: (Of<(payload: Uint8Array) => void> & { topic: Topic })[] = [];
  #scatterServers: (Of<(payload: Uint8Array) => Uint8Array> & { service: ScatterService; member: ScatterMember })[] = [];

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    this.events = new EventLog(parts);
  }

  /** Loses the newest events of the stream. @returns the generations that they settle */
  loseEvents(ms: number): string[] {
    const lost = this.events.loseTail(ms).flatMap((payload) => decodeSettlements(payload).settlements);
    return lost.map(({ generation }) => generation);
  }

  /** The bus as one process uses it. */
  busOf(host: Host): Bus {
    return {
      request: (service, payload) => this.#request(host, service, payload),
      width: () => Math.max(1, this.#reachableServers().length * messagesInFlightPerWorker),
      silentMs: () => (host.isConnected && this.#reachableServers().length > 0 ? 0 : Infinity),
      serve: async (_, handler) => this.#register(this.#servers, { host, handler }),
      publish: (_, id, payload) => this.#publish(host, id, payload),
      partitions: () => 1,
      consume: async (_, pace, handler: (events: Delivered[]) => Promise<void>) => {
        this.events.consume(host, pace, handler);
        return { [Symbol.asyncDispose]: async () => {} };
      },
      backlog: () => this.#backlog(host),
      replay: (_, replay) => this.#replay(host, replay),
      broadcast: (topic, payload) => this.#broadcast(host, topic, payload ?? new Uint8Array()),
      listen: (topic, handler) => this.#register(this.#listeners, { host, topic, handler }),
      scatter: (service, payload, waitMs) => this.#scatter(host, service, { payload, waitMs, mayLack: false }),
      survey: (service, payload, waitMs) => this.#scatter(host, service, { payload, waitMs, mayLack: true }),
      serveScatter: (service, handler, member = { id: "", predecessors: [] }) => {
        host.onReturn((unreachableMs) => {
          if (unreachableMs > busSilenceMsMax) member.onMissed?.();
        });
        return this.#register(this.#scatterServers, { host, service, handler, member });
      },
      connected: () => host.isConnected,
      [Symbol.asyncDispose]: async () => {},
    };
  }

  #register<T extends Of<unknown>>(list: T[], entry: T): Disposable & AsyncDisposable {
    const remove = (): void => void list.splice(list.indexOf(entry), list.includes(entry) ? 1 : 0);
    list.push(entry);
    return { [Symbol.dispose]: remove, [Symbol.asyncDispose]: async () => remove() };
  }

  /** The servers that were not silent for too long. */
  #reachableServers(): Of<RequestHandler>[] {
    const { now } = this.#parts.scheduler;
    this.#servers = this.#servers.filter(({ host }) => !host.isDead);
    return this.#servers.filter(({ host }) => host.isConnected && host.frozenUntil <= now + workerSilenceMsMax);
  }

  #request(caller: Host, service: Service, payload: Uint8Array): Promise<Reply> {
    const { chance, scheduler, conditions } = this.#parts;
    const reachable = this.#reachableServers();
    if (!caller.isConnected || reachable.length === 0)
      return Promise.reject(new BusUnavailableError(`No process serves "${service}"`));
    return new Promise((resolve, reject) => {
      const first = chance.pick(reachable);
      let resent = false;
      const cancels = [
        scheduler.plan(admissionDeadlineMs, caller, () => reject(new BusTimeoutError("no answer in the simulation"))),
        scheduler.plan(admissionResendMs, caller, () => {
          const others = this.#reachableServers().filter((server) => server !== first);
          if (others.length === 0) return;
          resent = true;
          send(chance.pick(others));
        }),
      ];
      const onReply = (reply: Uint8Array): void =>
        this.#return(caller, () => {
          for (const cancel of cancels) cancel();
          resolve({ payload: reply, resent });
        });
      const send = (server: Of<RequestHandler>): void => {
        const copies = conditions.isDoubled() ? 2 : 1;
        // The port promises to report a request that was sent twice.
        resent ||= copies > 1;
        for (let copy = copies; copy > 0; copy--) this.#deliver(server, payload, onReply);
      };
      send(first);
    });
  }

  #deliver({ host, handler }: Of<RequestHandler>, payload: Uint8Array, tell: (reply: Uint8Array) => void): void {
    const { scheduler, conditions } = this.#parts;
    if (conditions.isLost()) return;
    scheduler.plan(conditions.delayMs(), host, () => void (host.isConnected && handler(payload).then(tell, () => {})));
  }

  #return(caller: Host, tell: () => void): void {
    const { scheduler, conditions } = this.#parts;
    if (!conditions.isLost()) scheduler.plan(conditions.delayMs(), caller, () => caller.isConnected && tell());
  }

  #publish(host: Host, id: string, payload: Uint8Array): Promise<void> {
    const { scheduler, conditions } = this.#parts;
    if (!host.isConnected) return Promise.reject(new Error("the bus is not connected"));
    if (id.startsWith("expired.")) {
      for (const { generation } of decodeSettlements(payload).settlements) this.onExpiry(generation);
    }
    return new Promise((resolve, reject) => {
      const cancel = scheduler.plan(eventPublishMs, host, () => reject(new Error("the event may not be stored")));
      if (conditions.isLost()) return;
      scheduler.plan(conditions.delayMs(), null, () => {
        this.events.store(id, payload);
        this.#return(host, () => {
          cancel();
          resolve();
        });
      });
    });
  }

  #backlog(host: Host): Promise<{ messages: number }> {
    if (!host.isConnected) return Promise.reject(new Error("the bus is not connected"));
    return new Promise((resolve, reject) => {
      const cancel = host.clock.after(busCallMs, () => reject(new Error("no answer in the simulation")));
      this.#return(host, () => {
        cancel();
        resolve({ messages: this.events.size });
      });
    });
  }

  async #replay(host: Host, { sinceMs, handler }: Replay): Promise<void> {
    const { scheduler, conditions, plan } = this.#parts;
    const events = this.events.since(sinceMs === null ? -Infinity : sinceMs - plan.startMs);
    for (let at = 0; at < events.length; at += eventsReplayedAtOnce) {
      await new Promise<void>((resolve) => scheduler.plan(conditions.delayMs(), host, resolve));
      if (!host.isConnected || conditions.isLost()) throw new Error("events of a replay were lost in the simulation");
      await handler(events.slice(at, at + eventsReplayedAtOnce));
    }
  }

  #broadcast(from: Host, topic: Topic, payload: Uint8Array): void {
    const { scheduler, conditions } = this.#parts;
    if (!from.isConnected) return;
    this.#listeners = this.#listeners.filter(({ host }) => !host.isDead);
    for (const { host, topic: heard, handler } of this.#listeners) {
      if (heard !== topic || conditions.isLost()) continue;
      scheduler.plan(conditions.delayMs(), host, () => void (host.isConnected && handler(payload)));
    }
  }

  /** Scattered requests are few and short: they are neither lost nor late where both processes are connected. */
  #scatter(
    caller: Host,
    service: ScatterService,
    { payload, waitMs, mayLack }: { payload: Uint8Array; waitMs: number; mayLack: boolean },
  ): Promise<Uint8Array[]> {
    const { scheduler, conditions } = this.#parts;
    if (!caller.isConnected) return Promise.reject(new BusUnavailableError("The bus is not connected"));
    const since = scheduler.now - scatterServerMemoryMs;
    this.#scatterServers = this.#scatterServers.filter(({ host }) => !host.isDead || host.lastReachableAt > since);
    const heard = this.#scatterServers.filter((server) => server.service === service && server.host.lastReachableAt > since);
    const succeeded = new Set(heard.flatMap(({ member }) => member.predecessors));
    const known = heard.filter(({ member }) => !succeeded.has(member.id));
    const transitMs = (): number => Math.min(conditions.delayMs(), waitMs / 3);
    return new Promise((resolve, reject) => {
      const replies: Uint8Array[] = [];
      const late = (): void => {
        if (mayLack) resolve([...replies]);
        else reject(new BusTimeoutError(`A known server of "${service}" did not reply`));
      };
      const cancel = scheduler.plan(waitMs, caller, late);
      const done = (): void => {
        if (replies.length < known.length) return;
        cancel();
        resolve([...replies]);
      };
      for (const { host, handler } of known) {
        scheduler.plan(transitMs(), host, () => {
          if (!host.isConnected) return;
          const reply = handler(payload);
          scheduler.plan(transitMs(), caller, () => {
            replies.push(reply);
            done();
          });
        });
      }
      done();
    });
  }
}
