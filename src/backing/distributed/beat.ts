/** "I am here", every 100 ms, and "I leave" at the end. A process that is stuck beats no more: nothing else has to notice. */
import type { Clock } from "../../kernel/clock.ts";
import { workerBeatMs } from "../../limits/constants.ts";
import type { NatsLink } from "./nats-link.ts";

const goodbye = "-";

export interface BeatParts {
  link: NatsLink;
  clock: Clock;
  subject: string;
  /** Who beats. */
  id: string;
  /** Told with each beat; empty: nothing. */
  offer?: () => string;
}

/** Beats until disposed. */
export function startBeat({ link, clock, subject, id, offer = () => "" }: BeatParts): Disposable {
  let cancel = (): void => {};
  const beat = (): void => {
    cancel();
    link.publish(subject, `${id} ${offer()}`);
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

export interface Beat {
  id: string;
  leaves: boolean;
  offer: string;
}

export function readBeat(payload: Uint8Array): Beat {
  const [name = "", ...offer] = new TextDecoder().decode(payload).split(" ");
  const leaves = name.startsWith(goodbye);
  return { id: leaves ? name.slice(goodbye.length) : name, leaves, offer: offer.join(" ") };
}
