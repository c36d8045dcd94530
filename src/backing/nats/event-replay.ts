/**
 * Delivers again what a stream still has, for a ledger that went back in time. It uses its own consumer: those of the partitions continue
 * meanwhile, and events held by a dead process delay nothing. It has no acknowledgements, so events are counted: one that is missing fails
 * the replay, which is then repeated.
 */
import {
  AckPolicy,
  DeliverPolicy,
  jetstreamManager,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamInfo,
} from "@nats-io/jetstream";
import { nanos, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Replay, Stream } from "../bus.ts";
import { busCallMs, eventReplayIdleMs, eventReplayMax } from "../limits.ts";
import { deliveredOf, deliveryOf, EventPull } from "./event-pulls.ts";
import { type EventStream, type KnownPartition, orWhenMissing } from "./event-stream.ts";
import type { NatsLink } from "./link.ts";

interface ReplayParts {
  link: NatsLink;
  stream: Stream;
  events: EventStream;
  clock: Clock;
}

/** Resolves once the handler has had everything stored so far. @throws when it failed, an event is missing, or `signal` aborts */
export async function replayEvents(replay: Replay, { link, stream, events, clock }: ReplayParts): Promise<void> {
  const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: busCallMs });
  await events.ensure();
  const info = await manager.streams.info(stream);
  const start = await startOf(replay.sinceMs, await events.listPartitions(), { manager, info });
  const { name: consumer, num_pending } = await manager.consumers.add(stream, {
    name: `replay-${newInternalId(clock.now())}`,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(eventReplayIdleMs),
    ...start,
  });
  await using resources = new AsyncDisposableStack();
  // It also ends by itself if NATS does not answer.
  resources.defer(async () => void (await manager.consumers.delete(stream, consumer).catch(() => false)));
  const pull = resources.use(new EventPull({ link, clock, stream, consumer }));
  if (num_pending > 0) await deliverUpTo(info.state.last_seq, pull, replay);
}

async function startOf(
  sinceMs: number | null,
  partitions: readonly KnownPartition[],
  { manager, info: { config, state } }: { manager: JetStreamManager; info: StreamInfo },
): Promise<Partial<ConsumerConfig>> {
  if (sinceMs === null) return { deliver_policy: DeliverPolicy.All };
  const since = { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(sinceMs).toISOString() };
  const open = partitions.filter(({ info }) => info.num_pending + info.num_ack_pending > 0);
  const unacknowledged = Math.min(...open.map(({ info }) => info.ack_floor.stream_seq + 1));
  if (unacknowledged > state.last_seq) return since;
  const oldest = await orWhenMissing(manager.streams.getMessage(config.name, { seq: unacknowledged }), () =>
    Promise.resolve(null),
  );
  // It was another partition's and is trimmed, so the time of this partition's next one is unknown.
  if (oldest === null) return { deliver_policy: DeliverPolicy.All };
  if (oldest.time.getTime() >= sinceMs) return since;
  return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: unacknowledged };
}

async function deliverUpTo(last: number, pull: EventPull, { handler, signal }: Replay): Promise<void> {
  const interrupt = (): void => pull.end();
  signal.addEventListener("abort", interrupt);
  try {
    for (let number = 0; ;) {
      signal.throwIfAborted();
      pull.pull(eventReplayMax);
      await pull.ended;
      const messages = pull.take(eventReplayMax);
      const newest = messages.at(-1);
      if (newest === undefined) throw new Error("NATS delivers no more events of a replay");
      if (!areConsecutive(messages, number)) throw new Error("Events of a replay were lost on their way");
      await handler(messages.map(deliveredOf));
      const delivery = deliveryOf(newest);
      if (delivery.sequence >= last || delivery.rest === 0) return;
      number = delivery.number;
    }
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}

/** A consumer without acknowledgements delivers nothing twice, so events lost with a connection would go unnoticed. */
function areConsecutive(messages: readonly Msg[], before: number): boolean {
  return messages.every((message, index) => deliveryOf(message).number === before + index + 1);
}
