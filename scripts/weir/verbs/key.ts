import { email, id, numberOrDefault, oneOf, present, rows, text, usdOrNone } from "../value.ts";
import { ofWorkspace, withId, workspace, type Flag, type Verb } from "../verb.ts";

const theKey = withId("id of the key");

const form: readonly Flag[] = [
  { name: "name", field: "name", value: text, help: 'a label; empty gives "Untitled key"' },
  {
    name: "limit",
    field: "monthly_spend_limit_usd",
    value: usdOrNone,
    help: "the most it may spend in a month (UTC), up to two decimals",
  },
  {
    name: "daily-limit",
    field: "daily_spend_limit_usd",
    value: usdOrNone,
    help: "the most it may spend in a day (UTC), up to two decimals",
  },
  { name: "rpm", field: "rate_limit_rpm", value: numberOrDefault, help: "requests in any 60 seconds, 1 to 10000; default 60" },
];

export const keyVerbs: readonly Verb[] = [
  {
    noun: "key",
    verb: "create",
    summary: "Create a key and show it once",
    method: "POST",
    path: "/keys",
    flags: [
      ofWorkspace,
      {
        name: "owner",
        field: "owner",
        value: email,
        requiredUnlessAs: true,
        help: "the member who owns it; not needed with --as",
      },
      ...form,
      { name: "kind", field: "kind", value: oneOf("inference", "tools"), help: "which API it opens; default inference" },
    ],
    example: '--workspace default --owner owner@localhost --name "my app" --limit 25 --rpm 60',
  },
  {
    noun: "key",
    verb: "list",
    summary: "List keys in the order of their creation",
    method: "GET",
    path: "/keys",
    flags: [
      workspace,
      { name: "owner", field: "owner", value: email, help: "only keys of this member" },
      { name: "revoked", field: "revoked", value: present, help: "only the revoked ones" },
      { name: "near-limit", field: "near_limit", value: present, help: "only those that have spent 80 % of their monthly limit" },
      { name: "after", field: "after", value: id, help: "only those created after this key" },
      { name: "limit", field: "limit", value: rows, help: "at most so many" },
    ],
    columns: [
      "id",
      "name",
      "kind",
      "masked",
      "owner",
      "monthly_spend_limit_usd",
      "rate_limit_rpm",
      "month_spent_usd",
      "revoked_at",
    ],
  },
  { noun: "key", verb: "show", summary: "Show a key", method: "GET", path: "/keys/:id", flags: [theKey, workspace] },
  {
    noun: "key",
    verb: "edit",
    summary: "Change a key; omitted settings stay",
    method: "PATCH",
    path: "/keys/:id",
    flags: [theKey, workspace, ...form],
  },
  {
    noun: "key",
    verb: "revoke",
    summary: "Revoke a key, irrevocably",
    method: "POST",
    path: "/keys/:id/revoke",
    flags: [theKey, workspace],
    confirm: "A revoked key cannot be restored",
  },
];
