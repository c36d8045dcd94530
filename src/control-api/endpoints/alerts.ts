/**
 * Endpoints for rules, webhooks and alerts. A rule, webhook or alert outside the named workspace counts as unknown.
 */
import { Type } from "@sinclair/typebox";
import { findAlert, listAlerts, noAlert, replayAlert, testWebhook } from "../../accounts/alerts/alerts.ts";
import { createRule, deleteRule, editRule, findRule, listRules, noRule } from "../../accounts/alerts/rules.ts";
import {
  AlertList,
  AlertRuleDeleted,
  AlertRuleEdit,
  AlertRuleForm,
  AlertRuleView,
  AlertView,
} from "../../accounts/alerts/schema.ts";
import * as webhooks from "../../accounts/alerts/webhooks.ts";
import { alertRowsDefault, alertRowsMax } from "../../accounts/limits.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, parseRowLimit, rowLimit, withOptionalWorkspace } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { alertTestMs } from "../limits.ts";

const OfWorkspace = Type.Object({ workspace: NamedWorkspace });

/** A webhook outside the named workspace counts as unknown. */
async function ofWebhook({ id, input, actors, parts }: EndpointCall<{ workspace?: string }>) {
  const { workspace } = await webhooks.findWebhook(id, parts.sql);
  return actors.forResource({ named: input.workspace, workspace, unknown: webhooks.noWebhook(id) });
}

export const alertRuleEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/alert-rules",
    command: { name: "alert create", flags: { percents: "at", balance_usd: "below", only: { none: "all" } } },
    summary: "Set an alert about a threshold of a limit, a low balance or an event, by mail and by webhooks",
    fields: inWorkspace(AlertRuleForm),
    view: AlertRuleView,
    status: 201,
    async handle({ input, actors, parts }) {
      const { workspace: named, ...form } = input;
      const { actor, workspace } = await actors.inWorkspace(named);
      return createRule({ actor, workspace: workspace.id, form }, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/alert-rules",
    command: "alert rules",
    summary: "List the rules of alerts in order of creation",
    fields: OfWorkspace,
    view: listOf(AlertRuleView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return { data: await listRules({ actor, workspace: workspace.id }, parts.sql) };
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/alert-rules/:id",
    command: { name: "alert edit", flags: { percents: "at", balance_usd: "below", only: { none: "all" } } },
    summary: "Change a rule of alerts; omitted fields stay",
    fields: withOptionalWorkspace(AlertRuleEdit),
    view: AlertRuleView,
    async handle({ id, input: { workspace: named, ...edit }, actors, parts }) {
      const rule = await findRule(id, parts.sql);
      const { actor, workspace } = await actors.forResource({ named, workspace: rule.workspace, unknown: noRule(id) });
      return editRule({ actor, workspace: workspace.id, id, edit }, parts);
    },
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/alert-rules/:id",
    command: "alert delete",
    summary: "Delete a rule of alerts; its alerts stay listed",
    fields: withOptionalWorkspace(NoFields),
    view: AlertRuleDeleted,
    async handle({ id, input, actors, parts }) {
      const rule = await findRule(id, parts.sql);
      const named = { named: input.workspace, workspace: rule.workspace, unknown: noRule(id) };
      const { actor, workspace } = await actors.forResource(named);
      return deleteRule({ actor, workspace: workspace.id, id }, parts);
    },
  }),
};

export const alertWebhookEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/alert-webhooks",
    command: "alert-webhook create",
    summary: "Add a webhook that gets the workspace's alerts: signed JSON, or a message of Slack, Teams or PagerDuty",
    fields: inWorkspace(webhooks.AlertWebhookForm),
    view: webhooks.NewAlertWebhookView,
    status: 201,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return webhooks.createWebhook({ actor, workspace: workspace.id, form }, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/alert-webhooks",
    command: "alert-webhook list",
    summary: "List the webhooks of alerts in order of creation; auditors see their hosts",
    fields: OfWorkspace,
    view: listOf(webhooks.AlertWebhookView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return { data: await webhooks.listWebhooks({ actor, workspace: workspace.id, nowMs: parts.clock.now() }, parts.sql) };
    },
  }),
  rotate: endpoint({
    method: "POST",
    path: "/alert-webhooks/:id/rotate",
    command: "alert-webhook rotate",
    summary: "Give a webhook a new secret, which is shown once; for a day the former one signs as well",
    fields: withOptionalWorkspace(NoFields),
    view: webhooks.NewAlertWebhookView,
    async handle(call) {
      const { actor, workspace } = await ofWebhook(call);
      return webhooks.rotateWebhookSecret({ actor, workspace: workspace.id, id: call.id }, call.parts);
    },
  }),
  test: endpoint({
    method: "POST",
    path: "/alert-webhooks/:id/test",
    command: "alert test",
    summary: "Send a test to a webhook, once, and show how it answered",
    fields: withOptionalWorkspace(NoFields),
    view: AlertView,
    deadlineMs: alertTestMs,
    async handle(call) {
      const { actor, workspace } = await ofWebhook(call);
      return testWebhook({ actor, workspace, id: call.id }, call.parts);
    },
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/alert-webhooks/:id",
    command: { name: "alert-webhook delete", confirm: "A deleted webhook cannot be restored" },
    summary: "Delete a webhook with its secret and its deliveries, irrevocably",
    fields: withOptionalWorkspace(NoFields),
    view: webhooks.AlertWebhookDeleted,
    async handle(call) {
      const { actor, workspace } = await ofWebhook(call);
      return webhooks.deleteWebhook({ actor, workspace: workspace.id, id: call.id }, call.parts);
    },
  }),
};

export const alertEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/alerts",
    command: "alert list",
    summary: "List alerts, newest first, with their outcome at each webhook",
    fields: Type.Object({
      workspace: NamedWorkspace,
      webhook: Type.Optional(line("the id of a webhook", { title: "Only those that this webhook gets" })),
      limit: rowLimit({ normal: alertRowsDefault, max: alertRowsMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^alert-[a-z2-7]{26}$",
          title: "Only those older than this alert",
          description: "the id of an alert",
        }),
      ),
    }),
    view: AlertList,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: alertRowsDefault, max: alertRowsMax });
      const page = { webhook: input.webhook ?? null, before: input.before ?? null, limit };
      return listAlerts({ actor, workspace: workspace.id, ...page }, parts.sql);
    },
  }),
  replay: endpoint({
    method: "POST",
    path: "/alerts/:id/replay",
    command: "alert replay",
    summary: "Send an alert again, with the same id, to one webhook or all",
    fields: withOptionalWorkspace(
      Type.Object({
        webhook: Type.Optional(line("the id of a webhook", { title: "Only to this webhook; default: to all of the workspace" })),
      }),
    ),
    view: AlertView,
    async handle({ id, input, actors, parts }) {
      const found = await findAlert(id, parts.sql);
      const named = { named: input.workspace, workspace: found.workspace, unknown: noAlert(id) };
      const { actor, workspace } = await actors.forResource(named);
      const result = await replayAlert({ actor, workspace: workspace.id, id, webhook: input.webhook ?? null }, parts);
      parts.notify("alert-waits");
      return result;
    },
  }),
};
