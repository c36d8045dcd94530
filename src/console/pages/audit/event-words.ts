/** Events of the audit log in words. */
const words: Record<string, string> = {
  "workspace.created": "Workspace created",
  "workspace.updated": "Settings changed",
  "workspace.member.added": "Member added",
  "workspace.member.updated": "Role changed",
  "workspace.member.deactivated": "Member deactivated",
  "workspace.member.reactivated": "Member reactivated",
  "account.suspended": "Account suspended",
  "account.unsuspended": "Suspension ended",
  "account.locked": "Account locked",
  "account.unlocked": "Account unlocked",
  "account.deleted": "Account deleted",
  "account.password.set": "Password set",
  "account.factor.enabled": "Second factor turned on",
  "account.factor.replaced": "Second factor replaced",
  "account.factor.disabled": "Second factor turned off",
  "account.oidc.linked": "Provider's sign-in linked",
  "account.recovery.used": "Recovery code used",
  "account.signin.reset": "Sign-in reset",
  "account.link.created": "Sign-in link created",
  "auth.api.key.created": "Key created",
  "auth.api.key.updated": "Key changed",
  "auth.api.key.revoked": "Key revoked",
  "alert.rule.created": "Alert set",
  "alert.rule.deleted": "Alert deleted",
  "alert.webhook.created": "Webhook added",
  "alert.webhook.rotated": "Webhook's secret replaced",
  "alert.webhook.deleted": "Webhook deleted",
  "alert.replayed": "Alert sent again",
  "credit.added": "Credit added",
  "log.retained": "Old log deleted",
  "prompt.shown": "Prompt read",
  "prompt.deleted": "Prompt deleted",
  "prompts.deleted": "Prompts deleted",
  "secrets.rotated": "Secrets rotated",
  "product.created": "Product created",
  "project.created": "Project created",
  "project.updated": "Project changed",
  "project.sbom.set": "SBOM uploaded",
  "project.sbom.removed": "SBOM removed",
  "connection.created": "Connection created",
  "connection.credentials.replaced": "Credentials replaced",
  "connection.tested": "Connection tested",
  "connection.deleted": "Connection deleted",
  "provider.key.created": "Provider key created",
  "provider.key.replaced": "Provider key replaced",
  "provider.key.tested": "Provider key tested",
  "provider.key.disabled": "Provider key disabled",
  "provider.key.deleted": "Provider key deleted",
  "provider.key.refused": "Provider key refused",
  "provider.key.accepted": "Provider key accepted again",
  "finding.updated": "Finding triaged",
};

/** An event without words of its own stands for itself. */
export function eventWords(event: string): string {
  return words[event] ?? event;
}

/** For a filter, by their words. */
export const eventChoices = Object.entries(words)
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => a.label.localeCompare(b.label, "en"));
