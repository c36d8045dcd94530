/**
 * All endpoints of the control API. Routes and the OpenAPI document are made from this list. Within the process a page of the Console
 * imports the endpoints of its noun and calls them without a path.
 */
import type { Endpoint } from "./endpoint.ts";
import { accountEndpoints, invitationEndpoints, sessionEndpoints } from "./endpoints/accounts.ts";
import { advisoryEndpoints } from "./endpoints/advisories.ts";
import { alertEndpoints, alertRuleEndpoints, alertWebhookEndpoints } from "./endpoints/alerts.ts";
import { auditEndpoints, evidenceEndpoints } from "./endpoints/audit.ts";
import { billingEndpoints, sellerEndpoints } from "./endpoints/billing.ts";
import { checklistEndpoints } from "./endpoints/checklist.ts";
import { connectionEndpoints } from "./endpoints/connections.ts";
import { creditEndpoints, topUpEndpoints } from "./endpoints/credit.ts";
import { exploitEndpoints, vulnerabilityEndpoints } from "./endpoints/vulnerabilities.ts";
import { findingEndpoints, vexEndpoints } from "./endpoints/findings.ts";
import { keyEndpoints } from "./endpoints/keys.ts";
import { ledgerEndpoints, secretEndpoints, serviceEndpoints } from "./endpoints/service.ts";
import { logEndpoints, promptEndpoints } from "./endpoints/log.ts";
import { memberEndpoints } from "./endpoints/members.ts";
import { modelEndpoints, workbenchEndpoints } from "./endpoints/models.ts";
import { componentEndpoints, productEndpoints, projectEndpoints, projectPartEndpoints } from "./endpoints/projects.ts";
import { providerEndpoints } from "./endpoints/providers.ts";
import { providerKeyEndpoints } from "./endpoints/provider-keys.ts";
import { refusalEndpoints } from "./endpoints/refusals.ts";
import { repositoryEndpoints, sampleEndpoints, sbomEndpoints } from "./endpoints/uploads.ts";
import { chartEndpoints, statementEndpoints, usageEndpoints } from "./endpoints/usage.ts";
import { ticketEndpoints } from "./endpoints/tickets.ts";
import { viewEndpoints } from "./endpoints/views.ts";
import { workspaceEndpoints } from "./endpoints/workspaces.ts";

const nouns: readonly Record<string, Endpoint>[] = [
  workspaceEndpoints,
  memberEndpoints,
  accountEndpoints,
  invitationEndpoints,
  sessionEndpoints,
  keyEndpoints,
  creditEndpoints,
  topUpEndpoints,
  workbenchEndpoints,
  logEndpoints,
  refusalEndpoints,
  usageEndpoints,
  chartEndpoints,
  statementEndpoints,
  billingEndpoints,
  sellerEndpoints,
  promptEndpoints,
  alertRuleEndpoints,
  alertWebhookEndpoints,
  alertEndpoints,
  auditEndpoints,
  evidenceEndpoints,
  modelEndpoints,
  ledgerEndpoints,
  secretEndpoints,
  serviceEndpoints,
  connectionEndpoints,
  providerEndpoints,
  providerKeyEndpoints,
  advisoryEndpoints,
  sbomEndpoints,
  repositoryEndpoints,
  sampleEndpoints,
  productEndpoints,
  projectEndpoints,
  projectPartEndpoints,
  componentEndpoints,
  findingEndpoints,
  vexEndpoints,
  exploitEndpoints,
  vulnerabilityEndpoints,
  ticketEndpoints,
  checklistEndpoints,
  viewEndpoints,
];

export const endpoints: readonly Endpoint[] = nouns.flatMap((noun) => Object.values(noun));
