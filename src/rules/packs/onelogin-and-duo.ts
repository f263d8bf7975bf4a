import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

type Attributes = Readonly<Record<string, unknown>>;

const oneLogin = (id: number, attrs: Attributes = {}): SampleEntry => ({
  ...{ message: `event ${id}`, service: "onelogin" },
  attrs: {
    event_type_id: id,
    user_name: "Ana",
    actor_user_name: "Ana",
    user_id: 7,
    actor_user_id: 7,
    ...attrs,
  },
});
const duo = (reason: string, result = "denied"): SampleEntry => ({
  ...{ message: `${result} ana ${reason}`, service: "duo" },
  attrs: { reason, result, factor: "duo_push", user: { name: "ana" }, access_device: { ip: "203.0.113.7" } },
});

const OWN = "tostring(actor_user_id) == tostring(user_id)";
const oneLoginRule = (
  rule: Omit<Pack["rules"][number], "kql" | "counts" | "leaves" | "groupBy" | "threshold" | "windowSec"> & {
    readonly threshold?: number;
    readonly windowSec?: number;
  },
  ids: readonly [number, ...number[]],
) => ({
  ...{ ...EACH, groupBy: ["userName"], ...rule },
  kql: `service == "onelogin" and event_type_id in (${ids.join(", ")})`,
  ...{ counts: oneLogin(ids[0]), leaves: oneLogin(8) },
});

export const ONELOGIN: Pack = {
  id: "onelogin",
  name: "OneLogin",
  description: "Sign-ins at risk, and accounts, factors and passwords that others touch.",
  expects: {
    sources: "events of OneLogin, by a source with the preset onelogin",
    kql: "isnotempty(event_type_id)",
  },
  rules: [
    oneLoginRule(
      {
        id: "onelogin-failed-sign-ins",
        name: "Sign-ins to OneLogin fail repeatedly",
        description: "Somebody guesses the password of an account. See whether one sign-in worked.",
        ...{ severity: "medium", attackTechnique: "T1110", threshold: 10, windowSec: 600 },
      },
      [6],
    ),
    oneLoginRule(
      {
        id: "onelogin-password-changed",
        name: "A password was changed in OneLogin",
        description: "Expected when its owner did. Ask after a sign-in at risk.",
        ...{ severity: "low", attackTechnique: "T1098" },
      },
      [11],
    ),
    oneLoginRule(
      {
        id: "onelogin-factor-removed",
        name: "A second factor was removed in OneLogin",
        description: "A password alone opens the account from now on. Ask its owner by another way.",
        ...{ severity: "high", attackTechnique: "T1556.006" },
      },
      [172, 24],
    ),
    oneLoginRule(
      {
        id: "onelogin-accounts-deleted",
        name: "Accounts are deleted in OneLogin",
        description: "Several in a row lock people out. See who does it.",
        ...{ severity: "medium", attackTechnique: "T1531", threshold: 5, windowSec: 600 },
      },
      [17],
    ),
    oneLoginRule(
      {
        id: "onelogin-account-created",
        name: "An account was created in OneLogin",
        description: "Expected of people who begin; otherwise see who made it.",
        ...{ severity: "low", attackTechnique: "T1136.003" },
      },
      [13],
    ),
    oneLoginRule(
      {
        id: "onelogin-application-refused",
        name: "Somebody asks for applications that they may not use",
        description: "The account looks for what it can reach. Ask its owner.",
        ...{ severity: "medium", attackTechnique: "T1550", threshold: 3, windowSec: 600 },
      },
      [90],
    ),
    {
      id: "onelogin-super-user-made",
      name: "Somebody became a super user in OneLogin",
      description: "They may do everything there. See who it is and who gave it.",
      ...{ severity: "high", attackTechnique: "T1098.003", ...EACH, groupBy: ["userName"] },
      kql: 'service == "onelogin" and event_type_id == 72 and privilege_name contains "super user"',
      counts: oneLogin(72, { privilege_name: "Super user" }),
      leaves: oneLogin(72, { privilege_name: "Manage users" }),
    },
    {
      id: "onelogin-failure-at-risk",
      name: "A sign-in at high risk failed in OneLogin",
      description: "It did not look like the owner. See from where, and whether another one worked.",
      ...{ severity: "medium", attackTechnique: "T1110", ...EACH, groupBy: ["userName"] },
      kql: 'service == "onelogin" and event_type_id == 6 and risk_score > 50',
      ...{ counts: oneLogin(6, { risk_score: 80 }), leaves: oneLogin(6, { risk_score: 3 }) },
    },
    {
      id: "onelogin-password-of-another-read",
      name: "Somebody read the stored password of another user",
      description: "They may sign in as that user elsewhere. Change the password.",
      ...{ severity: "high", attackTechnique: "T1555", ...EACH, groupBy: ["userName"] },
      kql: `service == "onelogin" and event_type_id == 240 and not(${OWN})`,
      ...{ counts: oneLogin(240, { user_id: 8 }), leaves: oneLogin(240) },
    },
    {
      id: "onelogin-acted-as-another",
      name: "Somebody acts as another user in OneLogin",
      description: "What follows stands under the other's name. Ask both.",
      ...{ severity: "high", attackTechnique: "T1134", ...EACH, groupBy: ["userName"] },
      kql: `service == "onelogin" and event_type_id == 3 and not(${OWN})`,
      ...{ counts: oneLogin(3, { user_id: 8 }), leaves: oneLogin(3) },
    },
  ],
};

export const DUO: Pack = {
  id: "duo",
  name: "Duo",
  description: "Second factors that are refused, reported or come from unknown machines.",
  expects: {
    sources: "the authentication log of Duo, by a source with the preset duo-authentication",
    kql: 'service == "duo" and isnotempty(factor)',
  },
  rules: listedRules(
    {
      ...{ field: "reason", operator: "in", also: ' and service == "duo"', groupBy: ["userName"] },
      ...{ sample: (reason: string) => duo(reason), ordinary: "user_approved" },
    },
    [
      {
        id: "duo-push-reported",
        name: "A user reports a push as fraud",
        description: "Somebody has the password. Change it at once.",
        ...{ severity: "critical", attackTechnique: "T1621" },
        values: ["user_marked_fraud"],
      },
      {
        id: "duo-push-unlike-owner",
        name: "A push was refused because it did not look like the owner",
        description: "Somebody has the password. Ask the owner, and change it.",
        ...{ severity: "high", attackTechnique: "T1621" },
        values: ["anomalous_push"],
      },
      {
        id: "duo-machine-not-trusted",
        name: "A sign-in was refused because of the machine",
        description: "It is not managed or not healthy. See whose machine it is.",
        ...{ severity: "medium", attackTechnique: "T1078" },
        values: [
          "endpoint_is_not_in_management_system",
          "endpoint_failed_google_verification",
          "endpoint_is_not_trusted",
          "could_not_determine_if_endpoint_was_trusted",
          "invalid_device",
        ],
      },
      {
        id: "duo-pushes-refused",
        name: "Pushes are refused or left again and again",
        description: "Somebody with the password hopes that one is confirmed. Change the password.",
        ...{ severity: "high", attackTechnique: "T1621", threshold: 5, windowSec: 600 },
        values: ["no_response", "user_mistake", "user_cancelled"],
      },
    ],
  ),
};
