/** All pages of the Console, in the order of the navigation. To add one, add a folder in pages/ and a row here. */
import type { Page } from "./page.ts";
import { accountPage } from "./pages/account/account-page.ts";
import { homePage } from "./pages/home/home-page.ts";
import { chooseVendorPage } from "./pages/connections/choose-vendor.ts";
import { connectPage } from "./pages/connections/connect-page.ts";
import { connectionPage, deleteConnectionPage } from "./pages/connections/connection-page.ts";
import { connectionsPage } from "./pages/connections/connections-page.ts";
import { newConnectionPage } from "./pages/connections/new-connection.ts";
import { findingPage } from "./pages/findings/finding-page.ts";
import { findingsPage } from "./pages/findings/findings-page.ts";
import { keyPage, revokeKeyPage } from "./pages/keys/key-page.ts";
import { keysPage } from "./pages/keys/keys-page.ts";
import { newKeyPage } from "./pages/keys/new-key.ts";
import { alertsPage } from "./pages/alerts/alerts-page.ts";
import { newAlertRulePage } from "./pages/alerts/new-rule.ts";
import { newAlertWebhookPage } from "./pages/alerts/new-webhook.ts";
import { alertWebhookPage, deleteAlertWebhookPage } from "./pages/alerts/webhook-page.ts";
import { auditPage } from "./pages/audit/audit-page.ts";
import { invitationsPage } from "./pages/invitations/invitations-page.ts";
import { deleteAccountPage } from "./pages/members/account-section.ts";
import { deactivatePage } from "./pages/members/deactivate.ts";
import { invitePage } from "./pages/members/invite.ts";
import { memberPage } from "./pages/members/member-page.ts";
import { membersPage } from "./pages/members/members-page.ts";
import { compareModelsPage } from "./pages/models/compare-page.ts";
import { modelPage } from "./pages/models/model-page.ts";
import { modelsPage } from "./pages/models/models-page.ts";
import { advisoriesPage } from "./pages/operator/advisories-page.ts";
import { ledgerPage } from "./pages/operator/ledger-page.ts";
import { servicePage } from "./pages/operator/service-page.ts";
import { operatorWorkspacePage } from "./pages/operator/workspace-page.ts";
import { newWorkspacePage, workspacesPage } from "./pages/operator/workspaces-page.ts";
import { deletePromptPage } from "./pages/requests/delete-prompt.ts";
import { requestPage } from "./pages/requests/request-page.ts";
import { requestsPage } from "./pages/requests/requests-page.ts";
import { spendPage } from "./pages/spend/spend-page.ts";
import { statementPage } from "./pages/statements/statement-page.ts";
import { statementsPage } from "./pages/statements/statements-page.ts";
import { productPage } from "./pages/products/product-page.ts";
import { newProductPage, productsPage } from "./pages/products/products-page.ts";
import { newProjectPage } from "./pages/projects/new-project.ts";
import { projectPage } from "./pages/projects/project-page.ts";
import { projectsPage } from "./pages/projects/projects-page.ts";
import { ticketsPage } from "./pages/tickets/tickets-page.ts";
import { vulnerabilitiesPage } from "./pages/vulnerabilities/vulnerabilities-page.ts";
import { vulnerabilityPage } from "./pages/vulnerabilities/vulnerability-page.ts";
import { workbenchPage } from "./pages/workbench/workbench-page.ts";
import { deleteProviderKeyPage } from "./pages/provider-keys/delete-page.ts";
import { newProviderKeyPage } from "./pages/provider-keys/new-provider-key.ts";
import { providerKeyPage } from "./pages/provider-keys/provider-key-page.ts";
import { providerKeysPage } from "./pages/provider-keys/provider-keys-page.ts";
import { deletePromptsPage } from "./pages/settings/delete-prompts.ts";
import { settingsPage } from "./pages/settings/settings-page.ts";
import { topUpPage } from "./pages/top-ups/top-up-page.ts";
import { topUpsPage } from "./pages/top-ups/top-ups-page.ts";

export const pages: readonly Page[] = [
  homePage,

  keysPage,
  newKeyPage,
  keyPage,
  revokeKeyPage,
  modelsPage,
  compareModelsPage,
  modelPage,
  workbenchPage,
  requestsPage,
  requestPage,
  deletePromptPage,
  spendPage,
  statementsPage,
  statementPage,

  projectsPage,
  newProjectPage,
  projectPage,
  findingsPage,
  findingPage,
  vulnerabilitiesPage,
  vulnerabilityPage,
  productsPage,
  newProductPage,
  productPage,
  ticketsPage,

  connectionsPage,
  chooseVendorPage,
  connectionPage,
  deleteConnectionPage,
  newConnectionPage,
  connectPage,

  membersPage,
  invitePage,
  memberPage,
  deactivatePage,
  deleteAccountPage,
  settingsPage,
  deletePromptsPage,
  topUpsPage,
  topUpPage,
  providerKeysPage,
  newProviderKeyPage,
  providerKeyPage,
  deleteProviderKeyPage,
  alertsPage,
  newAlertRulePage,
  newAlertWebhookPage,
  alertWebhookPage,
  deleteAlertWebhookPage,
  auditPage,

  workspacesPage,
  newWorkspacePage,
  operatorWorkspacePage,
  advisoriesPage,
  ledgerPage,
  servicePage,

  accountPage,
  invitationsPage,
];
