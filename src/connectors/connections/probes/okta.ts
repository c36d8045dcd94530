import { headerText, type Probe } from "../probe.ts";
import { vendorOrigin } from "./host.ts";

const ends = ["okta.com", "oktapreview.com", "okta-emea.com"];

/** An API token in a header: https://developer.okta.com/docs/reference/core-okta-api/#authentication */
export const okta: Probe = {
  connector: "okta",
  needs: ["okta_domain", "api_token"],
  async call(value, { probeFetch }) {
    const origin = vendorOrigin({ field: "okta_domain", text: value("okta_domain"), ends });
    const headers = { accept: "application/json", authorization: `SSWS ${headerText("api_token", value("api_token"))}` };
    return probeFetch({ method: "GET", url: new URL("/api/v1/users?limit=1", origin), headers });
  },
};
