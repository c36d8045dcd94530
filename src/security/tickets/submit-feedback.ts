import { Type } from "@sinclair/typebox";
import { feedbackRatingMax } from "../limits.ts";
import { oneOf, optionalNumber } from "../api/operations/fields.ts";
import { operation } from "../api/operations/operation.ts";
import { ticketAnnotations } from "./ticket-annotations.ts";
import { logTicket } from "./log-ticket.ts";
import { aboutFields, Confirmation, ticketText } from "./schema.ts";
import { subjectOf } from "./subject.ts";

export const submitFeedback = operation({
  title: "Submit feedback",
  description:
    "Sends feedback, a wish, praise or a complaint to the operators of this service. It logs a ticket, and sends an e-mail with the " +
    "reference to the owner of the key.",
  annotations: ticketAnnotations,
  input: Type.Object({
    message: ticketText("What you want to say"),
    type: oneOf(["feedback", "feature_request", "praise", "complaint"], {
      title: "What kind of feedback it is",
      normal: "feedback",
    }),
    rating: Type.Optional(optionalNumber({ title: "Your rating; 5 is best", min: 1, max: feedbackRatingMax })),
    ...aboutFields,
  }),
  data: Confirmation,
  handle: (call) => logTicket({ type: "feedback", subject: subjectOf(call.input.message), text: call.input.message }, call),
});
