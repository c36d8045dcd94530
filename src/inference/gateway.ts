/** What the inference plane works with. */
import type { AdmissionClient } from "../admission/client.ts";
import type { Clocks } from "../config.ts";
import type { GenerationBook } from "../generations/book.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import type { Models } from "../models/models.ts";

export interface Gateway {
  admission: AdmissionClient;
  book: GenerationBook;
  models: Models;
  clock: Clock;
  clocks: Clocks;
  log: Logger;
  /** Prefix of every key, such as `platform-api-`. */
  keyPrefix: string;
}
