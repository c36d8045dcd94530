/**
 * Endpoints for credit: added by the operator, and bought by card. If the operator has set no Stripe key, endpoints that would call Stripe
 * answer conflict. A top-up outside the named workspace counts as unknown, so that its id reveals nothing.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { addCredit, CreditForm, CreditView } from "../../gateway/credit/credit.ts";
import type { RefundParts } from "../../gateway/top-ups/change-top-up.ts";
import { topUpsListedMax } from "../../gateway/top-ups/limits.ts";
import { checkTopUp } from "../../gateway/top-ups/payments.ts";
import { RefundForm, TopUpForm, TopUpSettingsForm, TopUpSettingsView, TopUpView } from "../../gateway/top-ups/schema.ts";
import { setTopUpSettings, showTopUpSettings } from "../../gateway/top-ups/settings.ts";
import { refundTopUp } from "../../gateway/top-ups/take-back.ts";
import { createTopUp, authorizeToSee, findTopUp, listTopUps, noTopUp, showTopUp } from "../../gateway/top-ups/top-ups.ts";
import { inWorkspace, NamedWorkspace, listOf, NoFields, parseRowLimit, rowLimit, withOptionalWorkspace } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { topUpCallMs } from "../limits.ts";
import { describeCredit } from "./workspaces.ts";

export const creditEndpoints = {
  add: endpoint({
    method: "POST",
    path: "/credit",
    command: "credit add",
    summary: "Add credit; the same reference adds once",
    fields: inWorkspace(CreditForm),
    view: CreditView,
    async handle({ input: { workspace: named, ...credit }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const { balance } = await addCredit({ actor, workspace: workspace.id, credit }, parts);
      await parts.refresh(workspace.id);
      return describeCredit({ ...workspace, balance }, parts);
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/credit",
    command: "credit show",
    summary: "Show a workspace's credit",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: CreditView,
    async handle({ input, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      return describeCredit(workspace, parts);
    },
  }),
};

/** The workspace of the path's top-up and the actor there; one outside the named workspace counts as unknown. */
async function ownerAndActor({ id, input, actors, parts }: EndpointCall<{ workspace?: string }>) {
  const topUp = await findTopUp({ id, workspace: null }, parts.sql);
  const owner = await actors.forResource({ named: input.workspace, workspace: topUp.workspace, unknown: noTopUp(id) });
  return { ...owner, topUp };
}

/** @throws DomainError conflict if the operator has set no Stripe key */
function offered({ topUps }: { topUps: RefundParts | null }): RefundParts {
  if (topUps !== null) return topUps;
  throw new DomainError("conflict", "Cards are not accepted: the operator has not set STRIPE_SECRET_KEY");
}

export const topUpEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/top-ups",
    command: "top-up create",
    summary:
      "Open a page of Stripe, at the url of the answer, on which a person pays for credit by card; an open one of the same amount is given again",
    fields: inWorkspace(TopUpForm),
    view: TopUpView,
    status: 201,
    deadlineMs: topUpCallMs,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      actors.requireRecentSignIn("top up by card");
      const { actor, workspace } = await actors.inWorkspace(named);
      return createTopUp({ actor, workspace: workspace.id, form }, offered(parts));
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/top-ups",
    command: "top-up list",
    summary: "List a workspace's card top-ups with their refunds, newest first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: 100, max: topUpsListedMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^top-[2-7a-z]{26}$",
          title: "Only those older than this one",
          description: "the id of a top-up",
        }),
      ),
    }),
    view: listOf(TopUpView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: 100, max: topUpsListedMax });
      return { data: await listTopUps({ actor, workspace: workspace.id, before: input.before ?? null, limit }, parts.sql) };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/top-ups/:id",
    command: "top-up show",
    summary: "Show a card top-up; one under way is looked up at Stripe first",
    fields: withOptionalWorkspace(NoFields),
    view: TopUpView,
    deadlineMs: topUpCallMs,
    async handle(call) {
      const { actor, workspace, topUp } = await ownerAndActor(call);
      authorizeToSee(actor);
      const { topUps, sql, log } = call.parts;
      const present = topUps === null ? Promise.resolve() : checkTopUp(topUp, topUps);
      // If Stripe does not answer, it shows what is known; the sweeper retries.
      await present.catch((error: unknown) =>
        log.warn({ event: "top_up.waits", reason: String(error) }, "Stripe did not answer"),
      );
      return showTopUp({ id: topUp.id, workspace: workspace.id }, sql);
    },
  }),
  refund: endpoint({
    method: "POST",
    path: "/top-ups/:id/refund",
    command: {
      name: "top-up refund",
      confirm: "It takes the amount out of the workspace's credit and gives it back to the card",
    },
    summary: "Refund a card top-up, at most what the workspace can still spend; the credit is taken back first",
    fields: withOptionalWorkspace(RefundForm),
    view: TopUpView,
    deadlineMs: topUpCallMs,
    async handle(call) {
      call.actors.requireRecentSignIn("refund a top-up");
      const { actor, workspace } = await ownerAndActor(call);
      const { workspace: _named, ...form } = call.input;
      return refundTopUp({ actor, workspace: workspace.id, id: call.id, form }, offered(call.parts));
    },
  }),
  showSettings: endpoint({
    method: "GET",
    path: "/top-up-settings",
    command: "top-up settings",
    summary: "Show a workspace's saved card and automatic top-up",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: TopUpSettingsView,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const stripe = parts.topUps?.stripe ?? null;
      return showTopUpSettings({ actor, workspace: workspace.id }, { ...parts, stripe });
    },
  }),
  editSettings: endpoint({
    method: "PATCH",
    path: "/top-up-settings",
    command: { name: "top-up set", flags: { remove_card: { bare: true } } },
    summary: "Change automatic top-up, or forget the saved card",
    fields: inWorkspace(TopUpSettingsForm),
    view: TopUpSettingsView,
    deadlineMs: topUpCallMs,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      actors.requireRecentSignIn("change automatic top-up");
      const { actor, workspace } = await actors.inWorkspace(named);
      const topUps = offered(parts);
      await setTopUpSettings({ actor, workspace: workspace.id, form }, topUps);
      return showTopUpSettings({ actor, workspace: workspace.id }, topUps);
    },
  }),
};
