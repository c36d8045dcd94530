/**
 * The address of a page for colleagues, with who can open it. It begins where people reach the service, and names the workspace by its id,
 * so that it stays true after the workspace is renamed. The address that the browser shows may be one that only its reader has, such as that
 * of a list with a drawer, or of a tunnel.
 */
import { isLoopbackOrigin } from "../../http/public-address.ts";
import { markup, type Html } from "../../http/html.ts";
import { content, copyField, userText, type Content } from "../look/parts.ts";
import type { PageCall } from "../page.ts";

interface Shared {
  /** Below the workspace, such as `/findings/fnd_…`. */
  path: string;
  /** A sentence. */
  readers: Content;
}

/** Who can open the page of a request or of a refused one. @param member who sent it, or owns its key; null: not known */
export function requestReaders({ workspace }: PageCall, member: string | null): Html {
  const sender = member === null ? null : markup`, and ${userText(member)}, who sent it or owns its key`;
  return markup`The admins and auditors of ${userText(workspace.name)} can open it${sender}.`;
}

/** A button that opens the address and who can open it. It needs no script: the address is a field. */
export function shareLink({ workspace, publicUrl }: PageCall, { path, readers }: Shared): Html {
  const value = `${publicUrl}/console/w/${workspace.id}${path}`;
  const words = isLoopbackOrigin(publicUrl) ? "The address is of this machine, and opens on no other one." : readers;
  return markup`<details class="exports share">
    <summary class="button quiet">Share</summary>
    <div>${copyField({ id: "share-link", label: "Link", value })}<p class="hint" id="share-readers">${content(words)}</p></div>
  </details>`;
}
