/** A bus that confirms settlements as soon as they are stored, as if metering had booked them. */
import type { Backlog, Bus, Delivered, Replay, Reply, ScatterService, Service, Stream, Topic } from "../../src/backing/bus.ts";
import { encodeSettled } from "../../src/gateway/journal/settlement.ts";

type Listener = (payload: Uint8Array) => void;

export class ConfirmingBus implements Bus {
  readonly #bus: Bus;
  readonly #store: Bus["publish"];
  readonly #settled = new Set<Listener>();

  /** @param store stores an event */
  constructor(bus: Bus, store: Bus["publish"]) {
    this.#bus = bus;
    this.#store = store;
  }

  async publish(stream: Stream, id: string, payload: Uint8Array): Promise<void> {
    await this.#store(stream, id, payload);
    // Runs after the publisher has seen that it is stored. A message's id consists of its batch and the number of the attempt.
    setImmediate(() => {
      for (const listener of this.#settled) listener(encodeSettled([id.slice(0, id.lastIndexOf("."))]));
    });
  }

  partitions(stream: Stream): number {
    return this.#bus.partitions(stream);
  }

  listen(topic: Topic, handler: Listener): Disposable {
    if (topic !== "settled") return this.#bus.listen(topic, handler);
    this.#settled.add(handler);
    return { [Symbol.dispose]: () => void this.#settled.delete(handler) };
  }

  request(service: Service, payload: Uint8Array): Promise<Reply> {
    return this.#bus.request(service, payload);
  }

  silentMs(service: Service): number {
    return this.#bus.silentMs(service);
  }

  width(service: Service): number {
    return this.#bus.width(service);
  }

  serve(service: Service, handler: (payload: Uint8Array) => Promise<Uint8Array>): Promise<AsyncDisposable> {
    return this.#bus.serve(service, handler);
  }

  consume(stream: Stream, options: { messagesMax: number }, handler: (events: Delivered[]) => Promise<void>) {
    return this.#bus.consume(stream, options, handler);
  }

  backlog(stream: Stream): Promise<Backlog> {
    return this.#bus.backlog(stream);
  }

  replay(stream: Stream, replay: Replay): Promise<void> {
    return this.#bus.replay(stream, replay);
  }

  broadcast(topic: Topic, payload?: Uint8Array): void {
    this.#bus.broadcast(topic, payload);
  }

  scatter(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return this.#bus.scatter(service, payload, waitMs);
  }

  survey(service: ScatterService, payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return this.#bus.survey(service, payload, waitMs);
  }

  serveScatter(service: ScatterService, handler: (payload: Uint8Array) => Uint8Array): Disposable {
    return this.#bus.serveScatter(service, handler);
  }

  connected(): boolean {
    return this.#bus.connected();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bus[Symbol.asyncDispose]();
  }
}
