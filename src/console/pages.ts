/**
 * All pages of the Console, in the order of the navigation. To add one, add its file in pages/ and a row here: the menu, the roles and the
 * routes follow from the row.
 */
import type { Page } from "./page.ts";
import { accountPage } from "./pages/account-page.ts";
import { homePage } from "./pages/home-page.ts";
import { connectionPages } from "./pages/connection-page.ts";
import { connectionsPage } from "./pages/connections-page.ts";
import { searchPage } from "./pages/search-page.ts";
import { findingPage } from "./pages/security/finding-page.ts";
import { findingsPage } from "./pages/security/findings-page.ts";
import { keyPage, revokeKeyPage } from "./pages/inference/key-page.ts";
import { keysPage, newKeyPage } from "./pages/inference/keys-page.ts";
import { alertRulePage, newAlertPage, newAlertRulePage } from "./pages/workspace/alert-rule-page.ts";
import { alertsPage } from "./pages/workspace/alerts-page.ts";
import {
  alertWebhookPage,
  deleteAlertWebhookPage,
  newAlertWebhookPage,
  newWebhookOfFormatPage,
} from "./pages/workspace/alert-webhook-page.ts";
import { auditPage } from "./pages/workspace/audit-page.ts";
import { invitationsPage } from "./pages/invitations-page.ts";
import { deleteAccountPage, deactivatePage } from "./pages/workspace/member-account.ts";
import { invitationPage } from "./pages/workspace/invitation-page.ts";
import { invitePage, membersPage } from "./pages/workspace/members-page.ts";
import { memberPage } from "./pages/workspace/member-page.ts";
import { compareModelsPage } from "./pages/inference/compare-page.ts";
import { modelPage } from "./pages/inference/model-page.ts";
import { modelsPage } from "./pages/inference/models-page.ts";
import { advisoriesPage } from "./pages/operator/advisories-page.ts";
import { operatorFindPage } from "./pages/operator/find-page.ts";
import { ledgerPage } from "./pages/operator/ledger-page.ts";
import { servicePage } from "./pages/operator/service-page.ts";
import { providerPages } from "./pages/operator/provider-page.ts";
import { providersPage } from "./pages/operator/providers-page.ts";
import { operatorWorkspacePage, newWorkspacePage, workspacesPage } from "./pages/operator/workspaces-page.ts";
import { deletePromptPage, requestPage } from "./pages/inference/request-page.ts";
import { refusedRequestPage } from "./pages/inference/refused-page.ts";
import { requestsPage } from "./pages/inference/requests-page.ts";
import { spendPage } from "./pages/inference/spend-page.ts";
import { billingPage, sellerPage } from "./pages/inference/billing-page.ts";
import { statementPage, statementsPage } from "./pages/inference/statements-page.ts";
import { componentsPage } from "./pages/security/components-page.ts";
import { productPage, newProductPage, productsPage } from "./pages/security/products-page.ts";
import { newProjectPage } from "./pages/security/new-project.ts";
import { projectActivityPage } from "./pages/security/project-activity-page.ts";
import { projectComponentsPage } from "./pages/security/project-components-page.ts";
import { projectFixesPage } from "./pages/security/project-fixes-page.ts";
import { importVexPage } from "./pages/security/import-vex-page.ts";
import { moveProjectPage, projectPage } from "./pages/security/project-page.ts";
import { projectSbomsPage } from "./pages/security/project-sboms-page.ts";
import { projectsPage } from "./pages/security/projects-page.ts";
import { ticketPage, ticketsPage } from "./pages/security/tickets-page.ts";
import { vulnerabilitiesPage } from "./pages/security/vulnerabilities-page.ts";
import { vulnerabilityPage } from "./pages/security/vulnerability-page.ts";
import { workbenchPage } from "./pages/inference/workbench/workbench-page.ts";
import { providerKeyPages } from "./pages/workspace/provider-keys-page.ts";
import { savedViewsPage } from "./pages/workspace/saved-views-page.ts";
import { deletePromptsPage, settingsPage } from "./pages/workspace/settings-page.ts";
import { topUpPage, topUpsPage } from "./pages/workspace/top-ups-page.ts";

export const pages: readonly Page[] = [
  homePage,
  searchPage,
  savedViewsPage,

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
  refusedRequestPage,
  deletePromptPage,
  spendPage,
  statementsPage,
  statementPage,
  billingPage,

  projectsPage,
  newProjectPage,
  projectPage,
  projectComponentsPage,
  projectFixesPage,
  projectSbomsPage,
  projectActivityPage,
  moveProjectPage,
  importVexPage,
  componentsPage,
  findingsPage,
  findingPage,
  vulnerabilitiesPage,
  vulnerabilityPage,
  productsPage,
  newProductPage,
  productPage,
  ticketsPage,
  ticketPage,

  connectionsPage,
  ...connectionPages,

  membersPage,
  invitePage,
  memberPage,
  invitationPage,
  deactivatePage,
  deleteAccountPage,
  settingsPage,
  deletePromptsPage,
  topUpsPage,
  topUpPage,
  ...providerKeyPages,
  alertsPage,
  newAlertPage,
  newAlertRulePage,
  alertRulePage,
  newAlertWebhookPage,
  newWebhookOfFormatPage,
  alertWebhookPage,
  deleteAlertWebhookPage,
  auditPage,

  workspacesPage,
  operatorFindPage,
  newWorkspacePage,
  operatorWorkspacePage,
  providersPage,
  ...providerPages,
  advisoriesPage,
  sellerPage,
  ledgerPage,
  servicePage,

  accountPage,
  invitationsPage,
];
