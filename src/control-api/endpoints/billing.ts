/**
 * Endpoints for who statements name: the seller, whose details are the operator's to set, and each workspace as a buyer.
 */
import { Type } from "@sinclair/typebox";
import {
  editBuyer,
  editSeller,
  PartyEdit,
  PartyView,
  SellerEdit,
  SellerView,
  showBuyer,
  showSeller,
} from "../../gateway/statements/parties.ts";
import { endpoint } from "../endpoint.ts";
import { inWorkspace, NamedWorkspace, NoFields } from "../fields.ts";

export const billingEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/billing",
    command: "billing show",
    summary: "Show the details under which a workspace buys, which statements name",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: PartyView,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return showBuyer({ actor, workspace: workspace.id }, parts.sql);
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/billing",
    command: "billing set",
    summary: "Change the details under which a workspace buys; omitted ones stay, and closed statements too",
    fields: inWorkspace(PartyEdit),
    view: PartyView,
    async handle({ input: { workspace: named, ...edit }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return editBuyer({ actor, workspace: workspace.id, edit }, parts);
    },
  }),
};

export const sellerEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/seller",
    command: "seller show",
    summary: "Show the seller's details and the tax that charges include, which statements name",
    fields: NoFields,
    view: SellerView,
    async handle({ actors, parts }) {
      return showSeller(actors.operator("see the seller's details"), parts.sql);
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/seller",
    command: { name: "seller set", flags: { tax_percent: { none: "none" } } },
    summary: "Change the seller's details and the tax that charges include; omitted ones stay, and closed statements too",
    fields: SellerEdit,
    view: SellerView,
    async handle({ input, actors, parts }) {
      return editSeller({ actor: actors.operator("change the seller's details"), edit: input }, parts);
    },
  }),
};
