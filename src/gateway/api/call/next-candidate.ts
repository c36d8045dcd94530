/** Chooses the candidate of the retry after a failed call. */
import { sharesCredential, type Candidate } from "../../models/routing/candidate.ts";
import { isGivenUp, type UpstreamFailure } from "../../providers/provider.ts";

interface NextOptions {
  failure: UpstreamFailure;
  /** The failed call's request had been sent. */
  sent: boolean;
  failed: Candidate;
  /** In order of preference. */
  candidates: readonly Candidate[];
}

/**
 * A failed provider may do better at a second call. A rate limit concerns the provider's credential, or one of its models. A refused
 * credential and a provider that takes no connection concern all of its models. A rejected request is not sent again, nor is one that a
 * provider took and the gateway gave up: the provider may bill what it has done, and the next one would do as much.
 * @returns null: no retry may help
 */
export function nextCandidate({ failure, sent, failed, candidates }: NextOptions): Candidate | null {
  if (sent && isGivenUp(failure)) return null;
  const others = candidates.filter((candidate) => candidate !== failed);
  const elsewhere = others.find((candidate) => !sharesCredential(candidate, failed)) ?? null;
  switch (failure.code) {
    case "upstream_error":
      return others[0] ?? failed;
    case "upstream_rate_limited":
      return elsewhere ?? others.find(({ model }) => model.id !== failed.model.id) ?? null;
    case "upstream_auth":
    case "upstream_timeout":
      return elsewhere;
    case "upstream_rejected":
      return null;
  }
}
