import { ledgerStatementMsMax } from "../../../gateway/limits.ts";
import { Verification, verifyLedger } from "../../../gateway/metering/verify.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NoFields } from "../../fields.ts";
import { streamProgress, wantsProgress } from "../../stream-progress.ts";

export const ledgerEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/ledger/verify",
    summary: "Check the stored money over one snapshot; as `application/x-ndjson` with each invariant as soon as it is checked",
    fields: NoFields,
    view: Verification,
    deadlineMs: ledgerStatementMsMax,
    progress: true,
    async handle({ actors, request, parts: { sql, log } }) {
      actors.operator("verify the ledger");
      if (!wantsProgress(request)) return verifyLedger({ sql });
      return streamProgress((tell) => verifyLedger({ sql, onChecked: tell }), log);
    },
  }),
];
