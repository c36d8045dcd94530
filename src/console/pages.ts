/** All pages of the Console, in the order of the navigation. To add one, add a folder in pages/ and a row here. */
import type { Page } from "./page.ts";
import { accountPage } from "./pages/account/account-page.ts";
import { homePage } from "./pages/home/home-page.ts";
import { keyPage, revokeKeyPage } from "./pages/keys/key-page.ts";
import { keysPage } from "./pages/keys/keys-page.ts";
import { newKeyPage } from "./pages/keys/new-key.ts";
import { auditPage } from "./pages/audit/audit-page.ts";
import { deleteAccountPage } from "./pages/members/account-section.ts";
import { deactivatePage } from "./pages/members/deactivate.ts";
import { invitePage } from "./pages/members/invite.ts";
import { memberPage } from "./pages/members/member-page.ts";
import { membersPage } from "./pages/members/members-page.ts";
import { compareModelsPage } from "./pages/models/compare-page.ts";
import { modelPage } from "./pages/models/model-page.ts";
import { modelsPage } from "./pages/models/models-page.ts";
import { ledgerPage } from "./pages/operator/ledger-page.ts";
import { servicePage } from "./pages/operator/service-page.ts";
import { operatorWorkspacePage } from "./pages/operator/workspace-page.ts";
import { newWorkspacePage, workspacesPage } from "./pages/operator/workspaces-page.ts";
import { requestPage } from "./pages/requests/request-page.ts";
import { requestsPage } from "./pages/requests/requests-page.ts";
import { spendPage } from "./pages/spend/spend-page.ts";
import { workbenchPage } from "./pages/workbench/workbench-page.ts";
import { deleteProviderKeyPage } from "./pages/provider-keys/delete-page.ts";
import { newProviderKeyPage } from "./pages/provider-keys/new-provider-key.ts";
import { providerKeyPage } from "./pages/provider-keys/provider-key-page.ts";
import { providerKeysPage } from "./pages/provider-keys/provider-keys-page.ts";
import { settingsPage } from "./pages/settings/settings-page.ts";

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
  spendPage,

  membersPage,
  invitePage,
  memberPage,
  deactivatePage,
  deleteAccountPage,
  settingsPage,
  providerKeysPage,
  newProviderKeyPage,
  providerKeyPage,
  deleteProviderKeyPage,
  auditPage,

  workspacesPage,
  newWorkspacePage,
  operatorWorkspacePage,
  ledgerPage,
  servicePage,

  accountPage,
];
