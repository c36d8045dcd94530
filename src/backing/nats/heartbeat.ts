/** A heartbeat every 100 ms, and a goodbye at the end. A process that hangs sends none: nothing else has to detect that. */
import type { Clock } from "../../kernel/clock.ts";
import { workerHeartbeatMs } from "../limits.ts";
import type { NatsLink } from "./nats-link.ts";

const goodbye = "-";

export interface HeartbeatParts {
  link: NatsLink;
  clock: Clock;
  subject: string;
  /** The sender's. */
  id: string;
}

/** Sends heartbeats until disposed. */
export function startHeartbeat({ link, clock, subject, id }: HeartbeatParts): Disposable {
  let cancel = (): void => {};
  const beat = (): void => {
    cancel();
    link.publish(subject, id);
    cancel = clock.after(workerHeartbeatMs, beat);
  };
  const watching = link.watch({ up: beat });
  beat();
  return {
    [Symbol.dispose]: () => {
      cancel();
      watching[Symbol.dispose]();
      link.publish(subject, goodbye + id);
    },
  };
}

export function readHeartbeat(payload: Uint8Array): { id: string; leaves: boolean } {
  const text = new TextDecoder().decode(payload);
  return text.startsWith(goodbye) ? { id: text.slice(goodbye.length), leaves: true } : { id: text, leaves: false };
}
