/** All endpoints of the control API. Routes and the OpenAPI document are made from this list. */
import type { Endpoint } from "./endpoint.ts";
import { accountEndpoints } from "./endpoints/accounts.ts";
import { advisoryEndpoints } from "./endpoints/advisories.ts";
import { auditEndpoints } from "./endpoints/audit.ts";
import { connectionEndpoints } from "./endpoints/connections.ts";
import { creditEndpoints } from "./endpoints/credit.ts";
import { keyEndpoints } from "./endpoints/keys.ts";
import { ledgerEndpoints } from "./endpoints/ledger.ts";
import { logEndpoints } from "./endpoints/log.ts";
import { memberEndpoints } from "./endpoints/members.ts";
import { migrateEndpoints } from "./endpoints/migrate.ts";
import { modelEndpoints } from "./endpoints/models.ts";
import { productEndpoints } from "./endpoints/products.ts";
import { projectEndpoints } from "./endpoints/projects.ts";
import { promptEndpoints } from "./endpoints/prompts.ts";
import { providerKeyEndpoints } from "./endpoints/provider-keys.ts";
import { repositoryEndpoints } from "./endpoints/repositories.ts";
import { sbomEndpoints } from "./endpoints/sboms.ts";
import { secretEndpoints } from "./endpoints/secrets.ts";
import { serviceEndpoints } from "./endpoints/service.ts";
import { sessionEndpoints } from "./endpoints/sessions.ts";
import { workspaceEndpoints } from "./endpoints/workspaces.ts";

export const endpoints: readonly Endpoint[] = [
  ...workspaceEndpoints,
  ...memberEndpoints,
  ...accountEndpoints,
  ...sessionEndpoints,
  ...keyEndpoints,
  ...creditEndpoints,
  ...logEndpoints,
  ...promptEndpoints,
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
];
