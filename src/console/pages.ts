/** All pages of the Console, in the order of the navigation. To add one, add a folder in pages/ and a row here. */
import type { Page } from "./page.ts";
import { accountPage } from "./pages/account/account-page.ts";
import { keyPage, revokeKeyPage } from "./pages/keys/key-page.ts";
import { keysPage } from "./pages/keys/keys-page.ts";
import { newKeyPage } from "./pages/keys/new-key.ts";

export const pages: readonly Page[] = [keysPage, newKeyPage, keyPage, revokeKeyPage, accountPage];
