/** Reservations and intents for tests that need no admission. */
import { reservationFrom, type Reservation } from "../../../src/gateway/credit/reservation.ts";
import type { GenerationIntent } from "../../../src/gateway/journal/spool-line.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import { newGenerationId, newRequestId } from "../../../src/kernel/ids.ts";

const noonMs = Date.UTC(2026, 10, 20, 12);

export function reservation(fields: Partial<Omit<Reservation, symbol>> = {}): Reservation {
  const admittedAt = fields.admittedAt ?? noonMs;
  return reservationFrom({
    generation: newGenerationId(admittedAt),
    request: newRequestId(admittedAt),
    workspace: "ws-1",
    key: "key-1",
    month: monthOf(admittedAt),
    amount: 200_000n,
    maxOutputTokens: 50,
    ...fields,
    admittedAt,
  });
}

export function intent(fields: Partial<GenerationIntent> = {}): GenerationIntent {
  const { generation, request, workspace, key, month, admittedAt, amount } = reservation();
  const facts = { fingerprint: "f0", model: "acme/one", streamed: false };
  return { generation, request, workspace, key, month, admittedAt, amount: amount.toString(), ...facts, ...fields };
}
