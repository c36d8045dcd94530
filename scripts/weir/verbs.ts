/** All verbs. To add a noun, add a file like its neighbours and a line here. */
import { accountVerbs } from "./account.ts";
import { advisoriesVerbs } from "./advisories.ts";
import { auditVerbs } from "./audit.ts";
import { catalogVerbs } from "./catalog.ts";
import { connectionVerbs } from "./connection.ts";
import { creditVerbs } from "./credit.ts";
import { keyVerbs } from "./key.ts";
import { ledgerVerbs } from "./ledger.ts";
import { logVerbs } from "./log.ts";
import { memberVerbs } from "./member.ts";
import { modelVerbs } from "./model.ts";
import { promptVerbs } from "./prompt.ts";
import { secretsVerbs } from "./secrets.ts";
import { productVerbs } from "./product.ts";
import { projectVerbs } from "./project.ts";
import { repositoryVerbs } from "./repository.ts";
import { sbomVerbs } from "./sbom.ts";
import type { Verb } from "./verb.ts";
import { workspaceVerbs } from "./workspace.ts";

export const verbs: readonly Verb[] = [
  ...workspaceVerbs,
  ...memberVerbs,
  ...accountVerbs,
  ...keyVerbs,
  ...creditVerbs,
  ...modelVerbs,
  ...logVerbs,
  ...promptVerbs,
  ...auditVerbs,
  ...ledgerVerbs,
  ...secretsVerbs,
  ...connectionVerbs,
  ...sbomVerbs,
  ...repositoryVerbs,
  ...productVerbs,
  ...projectVerbs,
  ...catalogVerbs,
  ...advisoriesVerbs,
];
