/**
 * Fields that sources name in their own ways, under one name each. Ordered: the first of the names that an entry has a
 * text for is what it says. `docs/logical-fields.md` is made of this table.
 */
export interface FieldSource {
  readonly name: string;
  readonly summary: string;
  /** The column of an entry that comes first; null where none says it. */
  readonly column: "host" | null;
  /** Names of attributes, dots for what lies inside of others: ECS first, then what presets leave as it came. */
  readonly aliases: readonly string[];
  /** Patterns over messages, whose first group is the value; tried after the attributes. */
  readonly patterns: readonly string[];
}

/** Whoever signs in chooses the name: what stands last in the line was written by the server, so that all before it is taken. */
const SSHD_ADDRESS = "(?:for|user) .* from ([0-9A-Fa-f.:]+) port [0-9]+";
const SSHD_INVALID_USER_ADDRESS = "^(?:input_userauth_request: )?[Ii]nvalid user .* from ([0-9A-Fa-f.:]+)$";
const SSHD_PEER_ADDRESS =
  "(?:^|: )(?:Received disconnect from|Disconnected from|Connection (?:closed|reset) by)(?: (?:authenticating |invalid )?user [^ ]+)? ([0-9A-Fa-f.:]+[0-9A-Fa-f])";
const PAM_ADDRESS = "authentication failures?;.* rhost=([^ ]+)";
const SSHD_MISNAMED_ADDRESSES = [
  "^reverse mapping checking getaddrinfo for [^ ]+ \\[([0-9A-Fa-f.:]+)\\] failed - ",
  "^Address ([0-9A-Fa-f.:]+) maps to ",
];
const AUTH_ADDRESSES = [
  SSHD_ADDRESS,
  SSHD_INVALID_USER_ADDRESS,
  SSHD_PEER_ADDRESS,
  PAM_ADDRESS,
  ...SSHD_MISNAMED_ADDRESSES,
];

const AUTH_USERS = [
  "(?:Failed|Accepted) [a-z/-]+ for (?:invalid user )?(.*) from [0-9A-Fa-f.:]+ port [0-9]+",
  "^(?:input_userauth_request: )?[Ii]nvalid user (.*) from [0-9A-Fa-f.:]+(?: port [0-9]+)?$",
  // The one who acts; whom he acts as stands behind USER=.
  "^ *([^ ]+) : (?:[0-9]+ incorrect password attempts? ; )?TTY=[^ ]+ ; PWD=",
  "session (?:opened|closed) for user ([^ (]+)",
  "authentication failures?;.* user=([^ ]+)",
  "(?:Successful su for|FAILED SU \\(to|FAILED su for) ([^ )]+)",
];

/** A message that one of the patterns here takes holds one of these: of most messages no pattern has to be tried. */
export const AUTH_MARKS = [
  " port ",
  "nvalid user ",
  "isconnected from ",
  "disconnect from ",
  "onnection closed by ",
  "onnection reset by ",
  "authentication failure",
  "reverse mapping checking ",
  " maps to ",
  "TTY=",
  " for user ",
  " su for ",
  "FAILED S",
  "FAILED s",
  "Failed ",
  "incorrect password attempt",
  "maximum authentication attempts exceeded",
] as const;

export const FIELD_SOURCES = [
  {
    name: "sourceAddress",
    summary: "The address that a request, a connection or a sign-in came from.",
    column: null,
    aliases: [
      "source.ip",
      "client.address",
      "client.ip",
      "sourceAddress",
      "src_ip",
      "srcip",
      "src",
      "client_ip",
      "clientip",
      "clientIp",
      "ClientIP",
      "ClientHost",
      "remote_addr",
      "remote_ip",
      "remoteIP",
      "request.client_ip",
      "request.remote_ip",
      "httpRequest.remoteIp",
      "httpRequest.clientIp",
      "net.peer.ip",
      "network.peer.address",
      "downstream_remote_address_without_port",
      "sourceIPAddress",
      "callerIpAddress",
      "CallerIPAddress",
      "client.ipAddress",
      "ipAddress",
      "IpAddress",
      "data.ip",
      "properties.ipAddress",
      "context.ip_address",
      "access_device.ip",
      "event.UserIp",
      "actor_ip",
      "ipaddr",
      "ActorIP",
      "protoPayload.requestMetadata.callerIp",
      "winlog.event_data.IpAddress",
      "winlog.event_data.SourceIp",
      "SourceIp",
      "id.orig_h",
      "id_orig_h",
      "srcaddr",
      "srcAddr",
    ],
    patterns: AUTH_ADDRESSES,
  },
  {
    name: "destinationAddress",
    summary: "The address that a connection went to.",
    column: null,
    aliases: [
      "destination.ip",
      "server.address",
      "server.ip",
      "destinationAddress",
      "dest_ip",
      "dst_ip",
      "dstip",
      "dst",
      "winlog.event_data.DestinationIp",
      "DestinationIp",
      "id.resp_h",
      "id_resp_h",
      "dstaddr",
      "dstAddr",
    ],
    patterns: [],
  },
  {
    name: "userName",
    summary: "Who acted: the name as its source writes it.",
    column: null,
    aliases: [
      "user.name",
      "user.username",
      "enduser.id",
      "user.email",
      "userIdentity.userName",
      "userIdentity.sessionContext.sessionIssuer.userName",
      "userIdentity.email",
      "userIdentity.arn",
      "protoPayload.authenticationInfo.principalEmail",
      "actor.alternateId",
      "actor.email",
      "actor.user.email",
      "actor_user_name",
      "event.UserId",
      "properties.userPrincipalName",
      "properties.initiatedBy.user.userPrincipalName",
      "ActorEmail",
      "data.user_name",
      "details.username",
      "sourceUserName",
      "suser",
      "winlog.event_data.TargetUserName",
      "TargetUserName",
      "winlog.event_data.User",
      "User",
      "sender.login",
      "actor",
      "username",
      "user_name",
      "userName",
      "user",
    ],
    patterns: AUTH_USERS,
  },
  {
    name: "hostName",
    summary: "The machine that something happened on.",
    column: "host",
    aliases: [
      "host.name",
      "host.hostname",
      "winlog.computer_name",
      "Computer",
      "Hostname",
      "hostname",
      "agent.name",
      "deviceHostName",
      "dvchost",
      "k8s.node.name",
      "kubernetes.host",
    ],
    patterns: [],
  },
  {
    name: "auth.user",
    summary: "Who signed in or failed to, as sshd, sudo, su and PAM write it.",
    column: null,
    aliases: ["auth.user"],
    patterns: AUTH_USERS,
  },
  {
    name: "auth.sourceAddress",
    summary: "Where a sign-in came from, as sshd and PAM write it.",
    column: null,
    aliases: ["auth.sourceAddress"],
    patterns: AUTH_ADDRESSES,
  },
] as const satisfies readonly FieldSource[];

/** What tells that a sign-in failed or succeeded; failures are looked for first. */
export const AUTH_OUTCOME = {
  name: "auth.outcome",
  summary: "`success` or `failure` of a sign-in, by sshd, sudo, su and PAM or an attribute that says so.",
  aliases: ["auth.outcome", "event.outcome", "outcome.result"],
  failure:
    "Failed (?:password|publickey|none|keyboard-interactive[^ ]*|hostbased|gssapi[^ ]*) for |authentication failures?;|^(?:input_userauth_request: )?[Ii]nvalid user |incorrect password attempt|FAILED [Ss][Uu] |maximum authentication attempts exceeded",
  success:
    "Accepted [a-z/-]+ for .* from [0-9A-Fa-f.:]+ port |session opened for user |Successful su for |^ *[^ ]+ : TTY=[^ ]+ ; PWD=.* ; USER=[^ ]+ ; COMMAND=",
} as const;

export type LogicalFieldName = (typeof FIELD_SOURCES)[number]["name"] | (typeof AUTH_OUTCOME)["name"];
