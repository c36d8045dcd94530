/** Reads a whole body within a bound on its decoded bytes. */
import { GatheredBytes } from "./gathered-bytes.ts";
import type { UpstreamCall } from "./upstream-call.ts";
import type { BytesReceiver } from "./transport.ts";
import { OversizedAnswer, UpstreamFailure } from "../provider.ts";

/** @throws UpstreamFailure when the body is too large, late or incomplete */
export function readWhole(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  return readUpTo(upstream, { bytesMax, cuts: false });
}

/** Reads the start of an error's body, which is enough to classify it. An incomplete body does not hide the status. */
export async function readBeginning(upstream: UpstreamCall, bytesMax: number): Promise<string> {
  try {
    return await readUpTo(upstream, { bytesMax, cuts: true });
  } catch (error) {
    if (error instanceof UpstreamFailure && error.code === "upstream_timeout") throw error;
    return "";
  }
}

interface ReadOptions {
  bytesMax: number;
  /** Whether a larger body is cut off, or refused. */
  cuts: boolean;
}

/** One promise for the whole body: one for each piece would cost more than reading it. */
function readUpTo(upstream: UpstreamCall, { bytesMax, cuts }: ReadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = new GatheredBytes();
    const receiver: BytesReceiver = {
      take(bytes) {
        if (bytes === null) return resolve(decoder.decode(read.take()));
        read.add(bytes);
        if (read.length <= bytesMax) return upstream.read(receiver);
        if (cuts) return resolve(decoder.decode(read.take()));
        reject(new OversizedAnswer(`the answer is larger than ${bytesMax} bytes`));
      },
      fail: reject,
    };
    upstream.read(receiver);
  });
}

const decoder = new TextDecoder();
