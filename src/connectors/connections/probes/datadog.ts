import { CredentialError, headerText, type Probe } from "../probe.ts";

/** https://docs.datadoghq.com/getting_started/site/ */
const sites = [
  "datadoghq.com",
  "us3.datadoghq.com",
  "us5.datadoghq.com",
  "datadoghq.eu",
  "ap1.datadoghq.com",
  "ap2.datadoghq.com",
  "ddog-gov.com",
];

/** An API key with an application key: https://docs.datadoghq.com/api/latest/authentication/ */
export const datadog: Probe = {
  connector: "datadog",
  needs: ["datadog_site", "api_key", "application_key"],
  async call(value, { probeFetch }) {
    const site = value("datadog_site")
      .toLowerCase()
      .replace(/^https:\/\//, "")
      .replace(/^(app|api)\./, "")
      .replace(/\/$/, "");
    if (!sites.includes(site)) throw new CredentialError("datadog_site", `one of ${sites.join(", ")} is needed`);
    const headers = {
      accept: "application/json",
      "dd-api-key": headerText("api_key", value("api_key")),
      "dd-application-key": headerText("application_key", value("application_key")),
    };
    return probeFetch({ method: "GET", url: new URL(`https://api.${site}/api/v2/users?page[size]=1`), headers });
  },
};
