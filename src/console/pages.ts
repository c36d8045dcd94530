/** All pages of the Console, in the order of the navigation. To add one, add a folder in pages/ and a row here. */
import type { Page } from "./page.ts";
import { accountPage } from "./pages/account/account-page.ts";

export const pages: readonly Page[] = [accountPage];
