/** All verbs. To add a noun, add a file like its neighbours and a line here. */
import { accountVerbs } from "./verbs/accounts/account.ts";
import { advisoriesVerbs } from "./verbs/security/advisories.ts";
import { alertVerbs } from "./verbs/accounts/alert.ts";
import { auditVerbs } from "./verbs/accounts/audit.ts";
import { catalogVerbs } from "./verbs/connectors/catalog.ts";
import { connectionVerbs } from "./verbs/connectors/connection.ts";
import { creditVerbs } from "./verbs/gateway/credit.ts";
import { exploitsVerbs } from "./verbs/security/exploits.ts";
import { findingVerbs } from "./verbs/security/finding.ts";
import { keyVerbs } from "./verbs/accounts/key.ts";
import { ledgerVerbs } from "./verbs/gateway/ledger.ts";
import { logVerbs } from "./verbs/gateway/log.ts";
import { memberVerbs } from "./verbs/accounts/member.ts";
import { migrateVerbs } from "./verbs/gateway/migrate.ts";
import { modelVerbs } from "./verbs/gateway/model.ts";
import { promptVerbs } from "./verbs/gateway/prompt.ts";
import { secretsVerbs } from "./verbs/accounts/secrets.ts";
import { productVerbs } from "./verbs/security/product.ts";
import { projectVerbs } from "./verbs/security/project.ts";
import { providerKeyVerbs } from "./verbs/gateway/provider-key.ts";
import { repositoryVerbs } from "./verbs/security/repository.ts";
import { sbomVerbs } from "./verbs/security/sbom.ts";
import { sessionVerbs } from "./verbs/accounts/session.ts";
import { serviceVerbs } from "./verbs/accounts/service.ts";
import { statementVerbs } from "./verbs/gateway/statement.ts";
import { ticketVerbs } from "./verbs/security/ticket.ts";
import { topUpVerbs } from "./verbs/gateway/top-up.ts";
import { usageVerbs } from "./verbs/gateway/usage.ts";
import { completionVerb } from "./help/completion.ts";
import type { Verb } from "./verb.ts";
import { vexVerbs } from "./verbs/security/vex.ts";
import { vulnerabilityVerbs } from "./verbs/security/vulnerability.ts";
import { workspaceVerbs } from "./verbs/accounts/workspace.ts";

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
