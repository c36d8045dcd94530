/** All verbs. To add a noun, add a file like its neighbours and a line here. */
import { accountVerbs } from "./verbs/account.ts";
import { advisoriesVerbs } from "./verbs/advisories.ts";
import { auditVerbs } from "./verbs/audit.ts";
import { catalogVerbs } from "./verbs/catalog.ts";
import { connectionVerbs } from "./verbs/connection.ts";
import { creditVerbs } from "./verbs/credit.ts";
import { keyVerbs } from "./verbs/key.ts";
import { ledgerVerbs } from "./verbs/ledger.ts";
import { logVerbs } from "./verbs/log.ts";
import { memberVerbs } from "./verbs/member.ts";
import { migrateVerbs } from "./verbs/migrate.ts";
import { modelVerbs } from "./verbs/model.ts";
import { promptVerbs } from "./verbs/prompt.ts";
import { secretsVerbs } from "./verbs/secrets.ts";
import { productVerbs } from "./verbs/product.ts";
import { projectVerbs } from "./verbs/project.ts";
import { providerKeyVerbs } from "./verbs/provider-key.ts";
import { repositoryVerbs } from "./verbs/repository.ts";
import { sbomVerbs } from "./verbs/sbom.ts";
import { sessionVerbs } from "./verbs/session.ts";
import type { Verb } from "./verb.ts";
import { workspaceVerbs } from "./verbs/workspace.ts";

export const verbs: readonly Verb[] = [
  ...workspaceVerbs,
  ...memberVerbs,
  ...accountVerbs,
  ...sessionVerbs,
  ...keyVerbs,
  ...creditVerbs,
  ...modelVerbs,
  ...logVerbs,
  ...promptVerbs,
  ...auditVerbs,
  ...ledgerVerbs,
  ...migrateVerbs,
  ...secretsVerbs,
  ...connectionVerbs,
  ...providerKeyVerbs,
  ...sbomVerbs,
  ...repositoryVerbs,
  ...productVerbs,
  ...projectVerbs,
  ...catalogVerbs,
  ...advisoriesVerbs,
];
