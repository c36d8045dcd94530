/** Chooses the candidate of the retry after a failed call. */
import { sharesCredential, type Candidate } from "../../models/routing/candidate.ts";
import type { UpstreamCode } from "../../providers/provider.ts";

interface NextOptions {
  code: UpstreamCode;
  /** The failed call's request had been sent. */
  sent: boolean;
  failed: Candidate;
  /** In order of preference. */
  candidates: readonly Candidate[];
}

/**
 * A failed provider may do better at a second call. A rate limit concerns the provider's credential, or one of its models. A refused
 * credential and a provider that takes no connection concern all of its models. A rejected request is not sent again, nor is one that a
 * provider took and did not answer in time: it may bill what it has done, and the next one would work as long.
 * @returns null: no retry may help
 */
export function nextCandidate({ code, sent, failed, candidates }: NextOptions): Candidate | null {
  const others = candidates.filter((candidate) => candidate !== failed);
  const elsewhere = others.find((candidate) => !sharesCredential(candidate, failed)) ?? null;
  switch (code) {
    case "upstream_error":
      return others[0] ?? failed;
    case "upstream_rate_limited":
      return elsewhere ?? others.find(({ model }) => model.id !== failed.model.id) ?? null;
    case "upstream_auth":
      return elsewhere;
    case "upstream_timeout":
      return sent ? null : elsewhere;
    case "upstream_rejected":
      return null;
  }
}
