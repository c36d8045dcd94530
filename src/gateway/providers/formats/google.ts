/** generateContent of the Gemini API and of those who follow it (https://ai.google.dev/api/generate-content). */
import type { WireFormat } from "../provider.ts";
import { decodeGoogleAnswer } from "./google-answer.ts";
import { classifyGoogleError } from "./google-errors.ts";
import { encodeGoogleRequest } from "./google-request.ts";
import { googleStreamDecoder } from "./google-stream.ts";
import { uncarriedByGoogle } from "./google-uncarried.ts";

export const google: WireFormat = {
  uncarried: uncarriedByGoogle,
  encode: encodeGoogleRequest,
  authorization: (key) => ({ "x-goog-api-key": key }),
  decodeAnswer: decodeGoogleAnswer,
  streamDecoder: googleStreamDecoder,
  classify: classifyGoogleError,
};
