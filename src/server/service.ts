/** What a gateway's process needs of either mode. */
import type { Front } from "./front.ts";

export interface Service extends Front {
  /** Tells the person at the terminal what to type next. */
  welcome(): Promise<void>;
  /** Closes what was opened, after `finish`. */
  close(): Promise<void>;
}
