/** Sessions and links as the control API shows them. */
import { Type, type Static } from "@sinclair/typebox";
import { isoTime } from "../../kernel/clock.ts";
import { Role } from "../audit/actor.ts";
import { Email } from "../workspaces/fields.ts";
import type { Session } from "./session.ts";

const text = (description: string) => Type.String({ description });
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const SessionView = Type.Object({
  id: text("The id of the session; not the cookie's value"),
  way: text("How it began: `password`, `link`, `operator token` or `oidc`"),
  agent: text("The browser, as it calls itself"),
  created_at: text("When it began, ISO 8601 in UTC"),
  used_at: text("When it was last used, to the minute, ISO 8601 in UTC"),
});
export type SessionView = Static<typeof SessionView>;

export const IdentityView = Type.Object({
  email: textOrNull("The person's e-mail address; null: the operator"),
  workspaces: Type.Array(
    Type.Object({
      id: text("The workspace's id"),
      name: text("Its name"),
      role: Type.Union([Role, Type.Literal("operator")], { description: "The caller's role there" }),
    }),
    { description: "The workspaces that the caller may see, by name, with their role in each" },
  ),
  invitations: Type.Array(
    Type.Object({
      id: text("The workspace's id"),
      name: text("Its name"),
      role: Role,
      invited_by: textOrNull("The admin who invited; null: unknown"),
    }),
    { description: "The workspaces that wait for the caller's answer, by name, with the role that each offers" },
  ),
});
export type IdentityView = Static<typeof IdentityView>;

export const LinkForm = Type.Object({ email: Email });

export const LinkView = Type.Object({
  url: text("Signs the person in, once"),
  expires_at: text("When it expires, ISO 8601 in UTC"),
});

export function viewSession({ id, way, agent, createdAt, usedAt }: Session): SessionView {
  return { id, way, agent, created_at: isoTime(createdAt.getTime()), used_at: isoTime(usedAt.getTime()) };
}
