import type { Verb } from "../../verb.ts";

export const secretsVerbs: readonly Verb[] = [
  {
    noun: "secrets",
    verb: "rotate",
    summary: "Seal every workspace's data key under the first key of SECRETS_KEY",
    method: "POST",
    path: "/secrets/rotate",
    flags: [],
  },
];
