import { NO_DAILY_CAPS } from "../../../src/access/principal.ts";
import type { Authenticator } from "../../../src/http/authenticator.ts";

/** Takes every request for one of a viewer of the organisation that its header `x-organization` names. */
export const byOrganization: Authenticator = {
  authenticate: (request) => {
    const organizationId = Number(request.headers.get("x-organization"));
    return {
      kind: "token",
      userId: 1,
      organizationId,
      email: "ana@example.com",
      role: "viewer",
      scopes: ["logs:read"],
      caps: NO_DAILY_CAPS,
      tokenId: 3,
      credentialKey: `token:${organizationId}`,
    };
  },
};
