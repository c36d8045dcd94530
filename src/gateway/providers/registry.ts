/** The wire formats that are spoken. A new one is a file in formats/ and a line here. */
import type { Clock } from "../../kernel/clock.ts";
import type { WireFormatName } from "../models/model.ts";
import { anthropic } from "./formats/anthropic.ts";
import { google } from "./formats/google.ts";
import { openai } from "./formats/openai.ts";
import { networkOf } from "./network.ts";
import type { WireFormat } from "./provider.ts";
import { sandboxOf } from "./sandbox/transport.ts";
import type { Transport } from "./transport.ts";

export interface SpokenFormat {
  format: WireFormat;
  transport: (clock: Clock) => Transport;
}

export const spokenFormats: Partial<Record<WireFormatName, SpokenFormat>> = {
  openai: { format: openai, transport: networkOf },
  anthropic: { format: anthropic, transport: networkOf },
  google: { format: google, transport: networkOf },
  sandbox: { format: openai, transport: sandboxOf },
};
