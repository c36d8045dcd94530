/** "I am here", every 100 ms, and "I leave" at the end. A process that is stuck beats no more: nothing else has to notice. */
import type { Clock } from "../../kernel/clock.ts";
import { workerBeatMs } from "../limits.ts";
import type { NatsLink } from "./nats-link.ts";

const goodbye = "-";

export interface BeatParts {
  link: NatsLink;
  clock: Clock;
  subject: string;
  /** Who beats. */
  id: string;
}

/** Beats until disposed. */
export function startBeat({ link, clock, subject, id }: BeatParts): Disposable {
  let cancel = (): void => {};
  const beat = (): void => {
    cancel();
    link.publish(subject, id);
    cancel = clock.after(workerBeatMs, beat);
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

export function readBeat(payload: Uint8Array): { id: string; leaves: boolean } {
  const text = new TextDecoder().decode(payload);
  return text.startsWith(goodbye) ? { id: text.slice(goodbye.length), leaves: true } : { id: text, leaves: false };
}
