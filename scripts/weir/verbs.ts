/** All verbs. To add a noun, add a file like its neighbours and a line here. */
import { accountVerbs, sessionVerbs } from "./verbs/account.ts";
import { advisoriesVerbs } from "./verbs/advisories.ts";
import { alertVerbs } from "./verbs/alert.ts";
import { auditVerbs } from "./verbs/audit.ts";
import { catalogVerbs } from "./verbs/catalog.ts";
import { connectionVerbs } from "./verbs/connection.ts";
import { creditVerbs, topUpVerbs } from "./verbs/credit.ts";
import { exploitsVerbs } from "./verbs/exploits.ts";
import { findingVerbs } from "./verbs/finding.ts";
import { keyVerbs } from "./verbs/key.ts";
import { ledgerVerbs, migrateVerbs, secretsVerbs, serviceVerbs } from "./verbs/service.ts";
import { logVerbs, promptVerbs } from "./verbs/log.ts";
import { memberVerbs } from "./verbs/member.ts";
import { modelVerbs } from "./verbs/model.ts";
import { productVerbs, projectVerbs } from "./verbs/project.ts";
import { providerKeyVerbs } from "./verbs/provider-key.ts";
import { repositoryVerbs, sbomVerbs } from "./verbs/upload.ts";
import { statementVerbs } from "./verbs/statement.ts";
import { ticketVerbs } from "./verbs/ticket.ts";
import { usageVerbs } from "./verbs/usage.ts";
import { completionVerb } from "./completion.ts";
import type { Verb } from "./verb.ts";
import { vexVerbs } from "./verbs/vex.ts";
import { vulnerabilityVerbs } from "./verbs/vulnerability.ts";
import { workspaceVerbs } from "./verbs/workspace.ts";

const ownVerbs: readonly Verb[] = [
  ...workspaceVerbs,
  ...memberVerbs,
  ...accountVerbs,
  ...sessionVerbs,
  ...keyVerbs,
  ...creditVerbs,
  ...topUpVerbs,
  ...modelVerbs,
  ...logVerbs,
  ...usageVerbs,
  ...statementVerbs,
  ...promptVerbs,
  ...alertVerbs,
  ...auditVerbs,
  ...ledgerVerbs,
  ...migrateVerbs,
  ...secretsVerbs,
  ...serviceVerbs,
  ...connectionVerbs,
  ...providerKeyVerbs,
  ...sbomVerbs,
  ...repositoryVerbs,
  ...productVerbs,
  ...projectVerbs,
  ...findingVerbs,
  ...vexVerbs,
  ...exploitsVerbs,
  ...vulnerabilityVerbs,
  ...ticketVerbs,
  ...catalogVerbs,
  ...advisoriesVerbs,
];

export const verbs: readonly Verb[] = [...ownVerbs, completionVerb(ownVerbs)];
