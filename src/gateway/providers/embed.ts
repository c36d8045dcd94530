/** Calls a provider for embeddings: the only way from an admitted request to an embeddings model. */
import type { Reservation } from "../credit/reservation.ts";
import { embeddingAnswerBytesMax } from "../limits.ts";
import { embeddingFormats } from "./embedding-formats.ts";
import { inputCount, type EmbeddingAnswer, type EmbeddingCall } from "./embedding.ts";
import { postEncoded, readJson, withUpstream, type CallContext, type CallOptions, type SharedContext } from "./http.ts";
import { UpstreamFailure } from "./provider.ts";
import { wireFormats } from "./registry.ts";
import { checkedVectors } from "./wire/vectors.ts";

/** `embed` with all but the call bound. */
export type CallEmbeddings = (reservation: Reservation, call: EmbeddingCall, options?: CallOptions) => Promise<EmbeddingAnswer>;

export function embeddingCalls(shared: SharedContext): CallEmbeddings {
  return (reservation, call, options) => embed(reservation, call, { ...shared, ...options });
}

/**
 * Posts the call to its route's provider and checks the vectors of the answer.
 * @throws UpstreamFailure when there is no usable answer
 * @throws RangeError when the reservation is another generation's
 */
async function embed(reservation: Reservation, call: EmbeddingCall, context: CallContext): Promise<EmbeddingAnswer> {
  if (reservation.generation !== call.generation) {
    throw new RangeError(`Cannot embed for ${call.generation}: the reservation is of ${reservation.generation}`);
  }
  const { provider } = call.route;
  const speaks = provider.embeddings;
  if (speaks === undefined) throw new UpstreamFailure("upstream_error", `${provider.id} has no embeddings`);
  const embeddings = embeddingFormats[speaks.format];
  const { format } = wireFormats[provider.format];
  return withUpstream(context, async (upstream) => {
    const { route, second, onResent } = call;
    const post = { route, streamed: false, second, onResent, format, baseUrl: speaks.baseUrl, encoded: embeddings.encode(call) };
    await postEncoded(post, upstream, context);
    const answer = embeddings.decode(await readJson(upstream, embeddingAnswerBytesMax));
    const { dimensionsExpected: dimensions, normalize } = call;
    return checkedVectors(answer, { count: inputCount(call.inputs), dimensions, normalize });
  });
}
