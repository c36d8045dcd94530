/** All probes. A new one is a file in `probes/` and a line here. */
import type { Probe } from "./probe.ts";
import { datadog } from "./probes/datadog.ts";
import { googleWorkspace } from "./probes/google-workspace.ts";
import { jira } from "./probes/jira.ts";
import { microsoftEntraId } from "./probes/microsoft-entra-id.ts";
import { okta } from "./probes/okta.ts";

export const probes: readonly Probe[] = [datadog, googleWorkspace, jira, microsoftEntraId, okta];

/** @returns the probe for a connector's alternative with these fields; undefined: there is none */
export function probeFor({ connector, fields }: { connector: string; fields: readonly string[] }): Probe | undefined {
  return probes.find((probe) => probe.connector === connector && probe.needs.every((key) => fields.includes(key)));
}
