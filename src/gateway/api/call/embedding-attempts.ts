/**
 * Calls the one route of an embeddings model, and once more after `upstream_error` where retries are allowed. A client that leaves does
 * not end the call: the provider bills it, and it is short.
 */
import { StopSignal } from "../../../kernel/stop-signal.ts";
import type { EmbeddingAnswer } from "../../providers/embedding.ts";
import { isGivenUp, UpstreamFailure } from "../../providers/provider.ts";

interface EmbeddingAttempts {
  /** Calls the provider. @param onResent the transport has sent the request twice, which counts as the retry */
  callRoute(attempt: { second: boolean; givenUp: StopSignal; onResent: () => void }): Promise<EmbeddingAnswer>;
  fallbacks: boolean;
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
}

export type EmbeddingResult =
  | { kind: "answered"; answer: EmbeddingAnswer; failed: UpstreamFailure[] }
  | { kind: "failed"; failure: UpstreamFailure; failed: UpstreamFailure[] }
  /** The client left before the request was sent. */
  | { kind: "unsent"; failed: UpstreamFailure[] };

/** Rejects only with errors that are not a provider's failure. */
export async function embeddingAttempts({
  callRoute,
  fallbacks,
  clientSignal,
  stop,
}: EmbeddingAttempts): Promise<EmbeddingResult> {
  const failed: UpstreamFailure[] = [];
  if (clientSignal.aborted) return { kind: "unsent", failed };
  const givenUp = new StopSignal();
  let mayRetry = fallbacks;
  const disableRetry = (): void => void (mayRetry = false);
  clientSignal.addEventListener("abort", disableRetry);
  stop.listen(() => {
    disableRetry();
    givenUp.stop();
  });
  try {
    for (;;) {
      try {
        return {
          kind: "answered",
          answer: await callRoute({ second: failed.length > 0, givenUp, onResent: disableRetry }),
          failed,
        };
      } catch (failure) {
        if (!(failure instanceof UpstreamFailure)) throw failure;
        failed.push(failure);
        if (!mayRetry || failure.code !== "upstream_error" || isGivenUp(failure)) return { kind: "failed", failure, failed };
        mayRetry = false;
      }
    }
  } finally {
    stop.listen(null);
  }
}
