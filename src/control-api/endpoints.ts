/** All endpoints of the control API. Routes and the OpenAPI document are made from this list. */
import type { Endpoint } from "./endpoint.ts";
import { accountEndpoints } from "./endpoints/accounts/accounts.ts";
import { advisoryEndpoints } from "./endpoints/security/advisories.ts";
import { alertEndpoints } from "./endpoints/accounts/alerts.ts";
import { auditEndpoints } from "./endpoints/accounts/audit.ts";
import { connectionEndpoints } from "./endpoints/connectors/connections.ts";
import { creditEndpoints } from "./endpoints/gateway/credit.ts";
import { exploitEndpoints } from "./endpoints/security/exploits.ts";
import { findingEndpoints } from "./endpoints/security/findings.ts";
import { invitationEndpoints } from "./endpoints/accounts/invitations.ts";
import { keyEndpoints } from "./endpoints/accounts/keys.ts";
import { ledgerEndpoints } from "./endpoints/gateway/ledger.ts";
import { logEndpoints } from "./endpoints/gateway/log.ts";
import { memberEndpoints } from "./endpoints/accounts/members.ts";
import { migrateEndpoints } from "./endpoints/gateway/migrate.ts";
import { modelEndpoints } from "./endpoints/gateway/models.ts";
import { productEndpoints } from "./endpoints/security/products.ts";
import { projectEndpoints } from "./endpoints/security/projects.ts";
import { promptEndpoints } from "./endpoints/gateway/prompts.ts";
import { providerKeyEndpoints } from "./endpoints/gateway/provider-keys.ts";
import { repositoryEndpoints } from "./endpoints/security/repositories.ts";
import { sbomEndpoints } from "./endpoints/security/sboms.ts";
import { secretEndpoints } from "./endpoints/accounts/secrets.ts";
import { serviceEndpoints } from "./endpoints/accounts/service.ts";
import { sessionEndpoints } from "./endpoints/accounts/sessions.ts";
import { statementEndpoints } from "./endpoints/gateway/statements.ts";
import { ticketEndpoints } from "./endpoints/security/tickets.ts";
import { vexEndpoints } from "./endpoints/security/vex.ts";
import { vulnerabilityEndpoints } from "./endpoints/security/vulnerabilities.ts";
import { topUpEndpoints } from "./endpoints/gateway/top-ups.ts";
import { usageEndpoints } from "./endpoints/gateway/usage.ts";
import { workspaceEndpoints } from "./endpoints/accounts/workspaces.ts";
import { workbenchEndpoints } from "./endpoints/gateway/workbench.ts";

export const endpoints: readonly Endpoint[] = [
  ...workspaceEndpoints,
  ...memberEndpoints,
  ...accountEndpoints,
  ...invitationEndpoints,
  ...sessionEndpoints,
  ...keyEndpoints,
  ...creditEndpoints,
  ...topUpEndpoints,
  ...workbenchEndpoints,
  ...logEndpoints,
  ...usageEndpoints,
  ...statementEndpoints,
  ...promptEndpoints,
  ...alertEndpoints,
  ...auditEndpoints,
  ...modelEndpoints,
  ...ledgerEndpoints,
  ...migrateEndpoints,
  ...secretEndpoints,
  ...serviceEndpoints,
  ...connectionEndpoints,
  ...providerKeyEndpoints,
  ...advisoryEndpoints,
  ...sbomEndpoints,
  ...repositoryEndpoints,
  ...productEndpoints,
  ...projectEndpoints,
  ...findingEndpoints,
  ...vexEndpoints,
  ...exploitEndpoints,
  ...vulnerabilityEndpoints,
  ...ticketEndpoints,
];
