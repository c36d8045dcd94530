/** A gateway without HTTP: a client of admission and a journal of generations, joined as in `src/server/front.ts`. */
import { join } from "node:path";
import { type Admission, type Caller, recordOnBus } from "../../src/gateway/admission/message.ts";
import { AdmissionClient } from "../../src/gateway/admission/client.ts";
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import type { Bus } from "../../src/backing/bus.ts";
import type { Reservation } from "../../src/gateway/credit/reservation.ts";
import { GenerationJournal } from "../../src/gateway/journal/journal.ts";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import type { KeyRecord } from "../../src/accounts/keys/record.ts";
import { settlement } from "./gateway/settlements.ts";

export interface TestGatewayOptions {
  bus: Bus;
  clock: Clock;
  /** The folder of the gateway's spool. */
  folder: string;
  /** Prices requests that are decided with blocks; absent: nothing is lent. */
  models?: ModelsView;
}

export class TestGateway implements Disposable {
  readonly admission: AdmissionClient;
  readonly journal: GenerationJournal;

  constructor({ bus, clock, folder, models }: TestGatewayOptions) {
    this.journal = new GenerationJournal({ bus, clock, log: silentLog, folder: join(folder, "spool") });
    this.admission = new AdmissionClient({ bus, clock, log: silentLog, journal: this.journal, ...(models && { models }) });
  }

  admit(hash: string, record: KeyRecord): Promise<Admission> {
    const caller: Caller = { hash, record: recordOnBus(record) };
    return this.admission.admit(caller, { model: "acme/one", inputTokens: 36, maxTokens: 50, tools: false });
  }

  /** All steps from the key to the provider call, without the call itself. */
  async begin(hash: string, record: KeyRecord): Promise<Reservation> {
    const { reservation, fingerprint } = await this.admit(hash, record);
    try {
      await this.journal.begin(reservation, { fingerprint, model: "acme/one", streamed: false });
    } catch (error) {
      this.admission.release(reservation);
      throw error;
    }
    return reservation;
  }

  [Symbol.dispose](): void {
    this.journal[Symbol.dispose]();
  }
}

/** The settlement of a reservation's generation, at 1,000 nano-USD an input token and 2,000 an output token. */
export function endOf(
  reservation: Reservation,
  { promptTokens, completionTokens }: { promptTokens: number; completionTokens: number },
): Settlement {
  const { generation, request, workspace, key, month, amount, admittedAt } = reservation;
  const usage = { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return settlement({ generation, request, workspace, key, month, reserved: amount.toString(), admittedAt, usage });
}
