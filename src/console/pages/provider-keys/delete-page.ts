import type { Page, PageCall, PageContent } from "../../page.ts";
import { deleteKey, deleteKeyForm } from "./delete-provider-key.ts";
import { findKey, keyTrail } from "./provider-key-page.ts";

/** For browsers without script, where the dialog cannot open. */
export const deleteProviderKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/:id/delete",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { delete: deleteKey },
};

async function render(call: PageCall): Promise<PageContent> {
  const key = await findKey(call);
  return { title: "Delete the provider key?", trail: keyTrail(call), main: deleteKeyForm(key, call) };
}
