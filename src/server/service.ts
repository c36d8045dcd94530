/** The interface of both modes to the gateway's process. */
import type { Front } from "./front.ts";

export interface Service extends Front {
  /** Prints the address, the first keys and commands to try. */
  welcome(): Promise<void>;
  /** Closes all parts, after `finish`. */
  close(): Promise<void>;
}
