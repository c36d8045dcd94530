/** Reads a whole body within a bound on its decoded bytes. */
import { Buffer } from "node:buffer";
import type { UpstreamCall } from "./upstream-call.ts";
import type { BytesReceiver } from "./transport.ts";
import { UpstreamFailure } from "../provider.ts";

/** @throws UpstreamFailure when the body is too large, late or incomplete */
export async function readWhole(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  const { text, whole } = await readUpTo(upstream, bytesMax);
  if (!whole) throw new UpstreamFailure("upstream_error", `the answer is larger than ${bytesMax} bytes`);
  return text;
}

/** Reads the start of an error's body, which is enough to classify it. An incomplete body does not hide the status. */
export async function readBeginning(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  try {
    return (await readUpTo(upstream, bytesMax)).text;
  } catch (error) {
    if (error instanceof UpstreamFailure && error.code === "upstream_timeout") throw error;
    return "";
  }
}

interface ReadText {
  text: string;
  whole: boolean;
}

/** One promise for the whole body: one for each piece would cost more than reading it. */
function readUpTo(upstream: UpstreamCall, bytesMax: number): Promise<ReadText> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const receiver: BytesReceiver = {
      take(bytes) {
        if (bytes === null) return resolve({ text: decode(chunks), whole: true });
        chunks.push(bytes);
        size += bytes.length;
        if (size > bytesMax) return resolve({ text: decode(chunks), whole: false });
        upstream.read(receiver);
      },
      fail: reject,
    };
    upstream.read(receiver);
  });
}

const decoder = new TextDecoder();

function decode(chunks: Uint8Array[]): string {
  const [only] = chunks;
  return decoder.decode(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
}
