import type { OwnKey } from "../../accounts/keys/record.ts";

/** The mail to a workspace's admins when a provider refuses their own key. */
export function refusalMail(
  { provider, id }: Pick<OwnKey, "provider" | "id">,
  workspaceName: string,
): { subject: string; body: string } {
  return {
    subject: `Your own key for ${provider} was refused`,
    body: `The provider ${provider} refused the own key ${id} of the workspace "${workspaceName}", or its account.

Requests for this provider fail with upstream_auth until it accepts the key again. They are not made with another key.
Check the account at the provider, or replace or disable the key:

  provider-key test --id ${id}
  provider-key replace --id ${id} --key FILE
  provider-key disable --id ${id}
`,
  };
}
