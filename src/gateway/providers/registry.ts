/** The supported wire formats. A new format is a folder here and one line below. */
import type { Clock } from "../../kernel/clock.ts";
import type { WireFormatName } from "../models/model.ts";
import { anthropic } from "./anthropic/format.ts";
import { google } from "./google/format.ts";
import { openai } from "./openai/format.ts";
import { responses } from "./responses/format.ts";
import { networkOf } from "./transport/network.ts";
import type { WireFormat } from "./provider.ts";
import { sandboxUnsupportedField } from "./sandbox/answer.ts";
import { sandboxOf } from "./sandbox/transport.ts";
import type { Transport } from "./transport/transport.ts";

export interface WireFormatEntry {
  format: WireFormat;
  transport: (clock: Clock) => Transport;
}

export const wireFormats: Record<WireFormatName, WireFormatEntry> = {
  openai: { format: openai, transport: networkOf },
  "openai-responses": { format: responses, transport: networkOf },
  anthropic: { format: anthropic, transport: networkOf },
  google: { format: google, transport: networkOf },
  sandbox: { format: { ...openai, unsupportedField: sandboxUnsupportedField }, transport: sandboxOf },
};
