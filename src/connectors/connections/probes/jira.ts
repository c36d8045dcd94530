import type { Probe } from "../probe.ts";
import { vendorOrigin } from "./host.ts";

/** Basic: https://developer.atlassian.com/cloud/jira/platform/basic-auth-for-rest-apis/ */
export const jira: Probe = {
  connector: "jira",
  needs: ["jira_domain", "email_address", "api_token"],
  async call(value, { probeFetch }) {
    const origin = vendorOrigin({ field: "jira_domain", text: value("jira_domain"), ends: ["atlassian.net"] });
    const pair = Buffer.from(`${value("email_address")}:${value("api_token")}`).toString("base64");
    const headers = { accept: "application/json", authorization: `Basic ${pair}` };
    return probeFetch({ method: "GET", url: new URL("/rest/api/3/myself", origin), headers });
  },
};
