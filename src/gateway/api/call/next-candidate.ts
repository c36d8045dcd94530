/** Chooses the candidate of the retry after a failed call. */
import { sharesCredential, type Candidate } from "../../models/routing/candidate.ts";
import type { UpstreamCode } from "../../providers/provider.ts";

interface NextOptions {
  code: UpstreamCode;
  failed: Candidate;
  /** In order of preference. */
  candidates: readonly Candidate[];
}

/**
 * A failed provider may do better at a second call. A rate limit concerns the provider's credential, or one of its models. A refused
 * credential and a provider that does not answer concern all of its models. A rejected request is not sent again.
 * @returns null: no retry may help
 */
export function nextCandidate({ code, failed, candidates }: NextOptions): Candidate | null {
  const others = candidates.filter((candidate) => candidate !== failed);
  const elsewhere = others.find((candidate) => !sharesCredential(candidate, failed)) ?? null;
  switch (code) {
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
