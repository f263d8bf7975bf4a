import { ATTACK_CHAINS } from "./attack-chains.ts";
import type { CatalogCorrelation, SampleEntry } from "./pack.ts";

const sshd = (message: string): SampleEntry => ({ message, service: "sshd", host: "web-1" });
const many = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const aws = (eventName: string, errorCode?: string): SampleEntry => ({
  message: eventName,
  attrs: { eventName, userIdentity: { userName: "build" }, ...(errorCode !== undefined && { errorCode }) },
});
const okta = (eventType: string, result: string, user: string): SampleEntry => ({
  message: eventType,
  attrs: {
    eventType,
    outcome: { result },
    actor: { alternateId: user },
    client: { ipAddress: "203.0.113.7" },
  },
});
const NEW_USER: SampleEntry = {
  message: "new user: name=backup2, UID=1005, GID=1005",
  ...{ service: "useradd", host: "web-1" },
};
const ACCEPTED = sshd("Accepted password for ana from 203.0.113.7 port 4022 ssh2");

const OF_SYSTEMS: readonly CatalogCorrelation[] = [
  {
    id: "ssh-guessed-then-in",
    name: "A password was guessed over SSH, and then it worked",
    description: "The address that failed got in. End its session, lock the account, and see what it did.",
    ...{ severity: "high", attackTechnique: "T1110.001", joinField: "auth.sourceAddress", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        'service == "sshd" and message startswith "Failed password"',
        'service == "sshd" and message startswith "Accepted"',
      ],
    },
    chain: [sshd("Failed password for ana from 203.0.113.7 port 4022 ssh2"), ACCEPTED],
  },
  {
    id: "ssh-misnamed-then-in",
    name: "An address whose name leads elsewhere signed in over SSH",
    description:
      "Names of addresses are often wrong, and sometimes made up, so that the warning alone says little. Ask the owner of the account.",
    ...{ severity: "low", attackTechnique: "T1021.004", joinField: "auth.sourceAddress", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        'service == "sshd" and message contains "POSSIBLE BREAK-IN ATTEMPT"',
        'service == "sshd" and message startswith "Accepted"',
      ],
    },
    chain: [
      sshd(
        "reverse mapping checking getaddrinfo for a.example [203.0.113.7] failed - POSSIBLE BREAK-IN ATTEMPT!",
      ),
      ACCEPTED,
    ],
  },
  {
    id: "ssh-many-accounts",
    name: "One address tries many accounts over SSH",
    description:
      "It knows who has an account: a few passwords are tried on many. Block the address, and see whether one worked. Names that nobody has are told of by the guessing of passwords.",
    ...{ severity: "high", attackTechnique: "T1110.003", joinField: "auth.sourceAddress", windowSec: 600 },
    condition: {
      kind: "cardinality",
      matchKql:
        'service == "sshd" and message startswith "Failed password for " and not(message startswith "Failed password for invalid user ")',
      ...{ distinctField: "auth.user", threshold: 10 },
    },
    chain: many(10, (i) => sshd(`Failed password for user${i} from 203.0.113.7 port 4022 ssh2`)),
  },
  {
    id: "ssh-many-addresses",
    name: "One account signs in from many addresses",
    description: "The account may be in other hands. Ask its owner, and change its password.",
    ...{ severity: "high", attackTechnique: "T1078", joinField: "auth.user", windowSec: 3600 },
    condition: {
      kind: "cardinality",
      matchKql: 'service == "sshd" and message startswith "Accepted"',
      ...{ distinctField: "auth.sourceAddress", threshold: 5 },
    },
    chain: many(5, (i) => sshd(`Accepted password for ana from 203.0.113.${i} port 4022 ssh2`)),
  },
  {
    id: "login-then-account",
    name: "Somebody signed in and made an account",
    description:
      "An intruder makes accounts to come back. Ask who signed in, and whether the account is known.",
    ...{ severity: "high", attackTechnique: "T1136.001", joinField: "host", windowSec: 900 },
    condition: {
      kind: "sequence",
      steps: [
        'service == "sshd" and message startswith "Accepted"',
        'service == "useradd" and message startswith "new user"',
      ],
    },
    chain: [ACCEPTED, NEW_USER],
  },
  {
    id: "account-then-administrator",
    name: "An account was made, and then an administrator of it",
    description: "A new account has the rights of root. Lock it until somebody says whose it is.",
    ...{ severity: "critical", attackTechnique: "T1098", joinField: "host", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'service == "useradd" and message startswith "new user"',
        `service in ("usermod", "gpasswd") and (message contains "'sudo'" or message contains "'wheel'")`,
      ],
    },
    chain: [NEW_USER, { message: "add 'backup2' to group 'sudo'", service: "usermod", host: "web-1" }],
  },
  {
    id: "aws-denied-then-trail-stopped",
    name: "Somebody was denied, and then the trail was stopped",
    description:
      "A credential is tried out, and then the watching ends. Switch the trail on, and the credential off.",
    ...{ severity: "critical", attackTechnique: "T1562.008", joinField: "userName", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'errorCode in ("AccessDenied", "Client.UnauthorizedOperation")',
        'eventName in ("StopLogging", "DeleteTrail")',
      ],
    },
    chain: [aws("ListUsers", "AccessDenied"), aws("StopLogging")],
  },
  {
    id: "aws-key-then-discovery",
    name: "An access key was created and used to look around",
    description: "Whoever made the key finds out what is there. Delete the key unless it was wanted.",
    ...{ severity: "high", attackTechnique: "T1580", joinField: "userName", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'eventName == "CreateAccessKey"',
        'eventName in ("ListUsers", "ListRoles", "ListBuckets", "GetAccountAuthorizationDetails")',
      ],
    },
    chain: [aws("CreateAccessKey"), aws("ListBuckets")],
  },
  {
    id: "idp-spraying",
    name: "One address tries many accounts at the identity provider",
    description: "A few passwords are tried on many accounts. Block the address, and see whether one worked.",
    ...{ severity: "high", attackTechnique: "T1110.003", joinField: "sourceAddress", windowSec: 1800 },
    condition: {
      kind: "cardinality",
      matchKql: 'eventType == "user.session.start" and outcome.result == "FAILURE"',
      ...{ distinctField: "userName", threshold: 10 },
    },
    chain: many(10, (i) => okta("user.session.start", "FAILURE", `user${i}@example.com`)),
  },
  {
    id: "idp-factor-then-sign-in",
    name: "A second factor was reset, and then somebody signed in",
    description: "Whoever had the factor reset is in. Ask the owner by another way, and end the session.",
    ...{ severity: "critical", attackTechnique: "T1556.006", joinField: "userName", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'eventType in ("user.mfa.factor.deactivate", "user.mfa.factor.reset_all")',
        'eventType == "user.session.start" and outcome.result == "SUCCESS"',
      ],
    },
    chain: [
      okta("user.mfa.factor.reset_all", "SUCCESS", "ana@example.com"),
      okta("user.session.start", "SUCCESS", "ana@example.com"),
    ],
  },
  {
    id: "horizontal-scan",
    name: "One address is denied at many others",
    description: "A network is being scanned. See what answered.",
    ...{ severity: "medium", attackTechnique: "T1046", joinField: "sourceAddress", windowSec: 300 },
    condition: {
      kind: "cardinality",
      matchKql: 'deviceVendor != "" and deviceAction in~ ("deny", "drop", "block")',
      ...{ distinctField: "destinationAddress", threshold: 50 },
    },
    chain: many(50, (i) => ({
      message: "denied",
      attrs: { deviceVendor: "Example", deviceAction: "Deny", src: "203.0.113.7", dst: `10.0.0.${i}` },
    })),
  },
];

export const CORRELATIONS: readonly CatalogCorrelation[] = [...OF_SYSTEMS, ...ATTACK_CHAINS];
