import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

type Attributes = Readonly<Record<string, unknown>>;

const auth0 = (type: string, data: Attributes = {}): SampleEntry => ({
  ...{ message: type, service: "auth0" },
  attrs: { log_id: "9002", data: { type, ip: "203.0.113.7", user_name: "ana@example.com", ...data } },
});
const changed = (description: string, path: string, body: unknown): SampleEntry =>
  auth0("sapi", {
    description,
    details: { request: { path, method: "post", body }, response: { statusCode: 200 } },
  });
const API = 'data.type == "sapi" and data.details.response.statusCode < 300';

export const AUTH0: Pack = {
  id: "auth0",
  name: "Auth0",
  description: "Leaked passwords, floods of pushes, and changes of the tenant.",
  expects: {
    sources: "the log stream of Auth0, by a source with the preset auth0",
    kql: "isnotempty(log_id) and isnotempty(data.type)",
  },
  rules: [
    ...listedRules(
      {
        ...{ field: "data.type", operator: "in", also: "", groupBy: ["userName"] },
        ...{ sample: (type: string) => auth0(type), ordinary: "s" },
      },
      [
        {
          id: "auth0-leaked-password-used",
          name: "A sign-in with a leaked password",
          description: "Others know the password. Reset it, and see whether a sign-in worked.",
          ...{ severity: "high", attackTechnique: "T1110.004" },
          values: ["pwd_leak", "signup_pwd_leak"],
        },
        {
          id: "auth0-address-blocked",
          name: "Auth0 blocked an address or an account",
          description: "It failed too often. See whether one sign-in worked before.",
          ...{ severity: "medium", attackTechnique: "T1110", groupBy: ["sourceAddress"] },
          values: ["limit_wc", "limit_mu", "limit_sul"],
        },
        {
          id: "auth0-many-pushes",
          name: "Pushes are sent again and again",
          description: "Somebody with the password hopes that one is confirmed. Reset the password.",
          ...{ severity: "high", attackTechnique: "T1621", threshold: 5, windowSec: 600 },
          values: ["gd_send_pn"],
        },
        {
          id: "auth0-failed-sign-ins",
          name: "Sign-ins to Auth0 fail repeatedly",
          description: "One address guesses. See whether one sign-in worked.",
          ...{ severity: "medium", attackTechnique: "T1110.003", threshold: 20, windowSec: 600 },
          groupBy: ["sourceAddress"],
          values: ["fp", "fu", "f"],
        },
      ],
    ),
    {
      id: "auth0-role-created",
      name: "A role was created in Auth0",
      description: "Roles carry permissions of applications. See which, and who has it.",
      ...{ severity: "medium", attackTechnique: "T1098.003", ...EACH, groupBy: [] },
      kql: `${API} and data.description == "Create a role"`,
      counts: changed("Create a role", "/api/v2/roles", { name: "support" }),
      leaves: changed("Get roles", "/api/v2/roles", {}),
    },
    {
      id: "auth0-integration-installed",
      name: "An integration was installed in Auth0",
      description: "Its code runs at every sign-in. See its publisher.",
      ...{ severity: "medium", attackTechnique: "T1199", ...EACH, groupBy: [] },
      kql: `${API} and data.description == "Install an available integration" and data.details.request.path == "/api/v2/integrations/installed"`,
      counts: changed("Install an available integration", "/api/v2/integrations/installed", {}),
      leaves: changed("Get integrations", "/api/v2/integrations/installed", {}),
    },
    {
      id: "auth0-second-factor-policy-set",
      name: "The policy of second factors was set",
      description: "An empty policy asks nobody. Compare it with what was agreed.",
      ...{ severity: "high", attackTechnique: "T1556.006", ...EACH, groupBy: [] },
      kql: `${API} and data.details.request.path == "/api/v2/guardian/policies" and data.description contains "multi-factor authentication policies"`,
      counts: changed("Set the Multi-factor Authentication policies", "/api/v2/guardian/policies", []),
      leaves: changed("Get the policies", "/api/v2/guardian/policies", []),
    },
    {
      id: "auth0-factor-enabled",
      name: "A kind of second factor was switched on",
      description: "A weak kind, such as text messages, may be used now. See which.",
      ...{ severity: "low", attackTechnique: "T1556.006", ...EACH, groupBy: [] },
      kql: `${API} and data.description == "Update a Multi-factor Authentication Factor" and tobool(data.details.response.body.Enabled) == true`,
      counts: auth0("sapi", {
        description: "Update a Multi-factor Authentication Factor",
        details: { response: { statusCode: 200, body: { Enabled: true } } },
      }),
      leaves: auth0("sapi", {
        description: "Update a Multi-factor Authentication Factor",
        details: { response: { statusCode: 200, body: { Enabled: false } } },
      }),
    },
    {
      id: "auth0-administrator-invited",
      name: "An administrator was invited to the tenant",
      description: "Who accepts may manage all. See who it is.",
      ...{ severity: "high", attackTechnique: "T1136.003", ...EACH, groupBy: [] },
      kql: String.raw`${API} and data.description == "Create tenant invitations for a given client" and tostring(data.details.request.body.roles) contains "\"owner\""`,
      counts: changed("Create tenant invitations for a given client", "/api/v2/tenants/invitations", {
        roles: ["owner"],
      }),
      leaves: changed("Create tenant invitations for a given client", "/api/v2/tenants/invitations", {
        roles: ["user"],
      }),
    },
    {
      id: "auth0-somebody-invited",
      name: "Somebody was invited to a tenant or an organisation",
      description: "See who it is and what they may do.",
      ...{ severity: "low", attackTechnique: "T1136.003", ...EACH, groupBy: [] },
      kql: `data.type == "sapi" and data.details.request.path matches regex "^/api/v2/(tenants|organizations/[^/]+)/invitations$"`,
      counts: changed("Create invitations", "/api/v2/organizations/org_1/invitations", {}),
      leaves: changed("Create invitations", "/api/v2/organizations/more/org_1/invitations", {}),
    },
    {
      id: "auth0-invitation-accepted",
      name: "Somebody joined the tenant",
      description: "They may manage what their role allows. See who invited them.",
      ...{ severity: "low", attackTechnique: "T1136.003", ...EACH, groupBy: [] },
      kql: `${API} and data.description == "Update an invitation" and data.details.request.body.state == "accepted"`,
      counts: changed("Update an invitation", "/api/v2/tenants/invitations/inv_1", { state: "accepted" }),
      leaves: changed("Update an invitation", "/api/v2/tenants/invitations/inv_1", { state: "declined" }),
    },
    {
      id: "auth0-phone-enrolled",
      name: "A telephone number is enrolled for several accounts",
      description: "One number gets the codes of all of them. See whose number it is.",
      ...{ severity: "medium", attackTechnique: "T1098.005", threshold: 3, windowSec: 86_400 },
      groupBy: ["data.details.authenticator.phone_number"],
      kql: 'data.type == "gd_enrollment_complete" and data.description contains "(sms)" and isnotempty(data.details.authenticator.phone_number)',
      counts: auth0("gd_enrollment_complete", {
        description: "Guardian - Enrollment complete (sms)",
        details: { authenticator: { phone_number: "1555" } },
      }),
      leaves: auth0("gd_enrollment_complete", { description: "Guardian - Enrollment complete (voice)" }),
    },
  ],
};
