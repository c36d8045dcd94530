import { email } from "../value.ts";
import type { Verb } from "../verb.ts";

export const sessionVerbs: readonly Verb[] = [
  {
    noun: "session",
    verb: "link",
    summary: "Create a link that signs a person in to the Console, once and within an hour",
    method: "POST",
    path: "/session-links",
    flags: [{ name: "email", field: "email", value: email, required: true, help: "the person's address" }],
  },
];
