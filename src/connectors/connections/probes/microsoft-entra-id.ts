import { CredentialError, type Probe } from "../probe.ts";
import { callWithToken } from "./token.ts";

/** OAuth client credentials: https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
export const microsoftEntraId: Probe = {
  connector: "microsoft-entra-id",
  needs: ["entra_tenant_id", "entra_client_id", "entra_client_secret"],
  async call(value, { probeFetch }) {
    const tenant = value("entra_tenant_id");
    if (!/^[a-z0-9.-]+$/i.test(tenant)) {
      throw new CredentialError("entra_tenant_id", "the id or a domain of a tenant is needed");
    }
    const grant = {
      grant_type: "client_credentials",
      client_id: value("entra_client_id"),
      client_secret: value("entra_client_secret"),
      scope: "https://graph.microsoft.com/.default",
    };
    const tokenUrl = new URL(`https://login.microsoftonline.com/${encodeURIComponent(tenant)}/oauth2/v2.0/token`);
    const url = new URL("https://graph.microsoft.com/v1.0/users?$top=1&$select=id");
    return callWithToken({ tokenUrl, grant, url }, probeFetch);
  },
};
