/**
 * The wire format of the Gemini API's generateContent and of its compatible providers
 * (https://ai.google.dev/api/generate-content).
 */
import type { WireFormat } from "../provider.ts";
import { decodeGoogleAnswer } from "./answer.ts";
import { googleClientField } from "./client-field.ts";
import { classifyGoogleError } from "./errors.ts";
import { encodeGoogleRequest, googleAddedBytes } from "./request.ts";
import { googleStreamDecoder } from "./stream.ts";
import { googleUnsupportedField } from "./unsupported-fields.ts";

export const google: WireFormat = {
  unsupportedField: googleUnsupportedField,
  addedBytes: googleAddedBytes,
  encode: encodeGoogleRequest,
  clientField: googleClientField,
  authorization: (key) => ({ "x-goog-api-key": key }),
  decodeAnswer: decodeGoogleAnswer,
  streamDecoder: googleStreamDecoder,
  classify: classifyGoogleError,
};
