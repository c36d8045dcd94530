import { bindConnections } from "../../../connectors/connections/connections.ts";
import { rotateSecrets, Rotation } from "../../../accounts/secrets/rotate.ts";
import { resealSecondFactors } from "../../../accounts/second-factor/second-factor.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NoFields } from "../../fields.ts";

export const secretEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/secrets/rotate",
    summary: "Seal every workspace's data key and every second factor under the first key of SECRETS_KEY",
    fields: NoFields,
    view: Rotation,
    handle: async ({ actors, parts }) =>
      rotateSecrets(actors.operator("rotate secrets"), { ...parts, bind: bindConnections, reseal: resealSecondFactors }),
  }),
];
