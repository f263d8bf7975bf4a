import { isPersonalAccessToken } from "../access/secret-token.ts";
import { setting } from "./setting.ts";
import { hostName, integer, path, ValueProblem, type ValueType } from "./values.ts";

/** A personal access token by its form; whether it is valid is known only when it is used. */
const accessToken: ValueType<string> = {
  accepts: "a personal access token",
  read: (text) => {
    if (!isPersonalAccessToken(text)) throw new ValueProblem("is not a personal access token");
    return text;
  },
};

/** A secret that both sides were given, as it is. */
const sharedKey: ValueType<string> = { accepts: "a text", read: (text) => text };

/** The settings of the listeners for syslog, GELF and the forward protocol. */
export const LISTENER_SETTINGS = {
  syslogTcpPort: setting({
    name: "SYSLOG_TCP_PORT",
    defaultText: "off",
    meaning: "Port of the listener for syslog over TCP; 0 takes a free one. Needs `SYSLOG_TOKEN`.",
    type: integer(0, 65_535),
  }),
  syslogUdpPort: setting({
    name: "SYSLOG_UDP_PORT",
    defaultText: "off",
    meaning: "Port of the listener for syslog over UDP; 0 takes a free one. Needs `SYSLOG_TOKEN`.",
    type: integer(0, 65_535),
  }),
  syslogHost: setting({
    name: "SYSLOG_HOST",
    default: "127.0.0.1",
    meaning:
      "Where they listen. Syslog names no sender that could be checked: whoever reaches the ports writes logs, so " +
      "open them to trusted networks only.",
    type: hostName,
  }),
  syslogToken: setting({
    name: "SYSLOG_TOKEN",
    meaning:
      "A token with the scope `logs:write`; its organisation owns what arrives. When it is revoked, syslog is refused.",
    secret: true,
    type: accessToken,
  }),
  syslogTlsCert: setting({
    name: "SYSLOG_TLS_CERT",
    defaultText: "none: plain TCP",
    meaning:
      "File with the certificate chain in PEM; with it the TCP listener speaks TLS. Read at the start.",
    type: path,
  }),
  syslogTlsKey: setting({
    name: "SYSLOG_TLS_KEY",
    meaning: "File with the private key of that certificate in PEM.",
    type: path,
  }),
  gelfTcpPort: setting({
    name: "GELF_TCP_PORT",
    defaultText: "off",
    meaning: "Port of the listener for GELF over TCP; 0 takes a free one. Needs `GELF_TOKEN`.",
    type: integer(0, 65_535),
  }),
  gelfUdpPort: setting({
    name: "GELF_UDP_PORT",
    defaultText: "off",
    meaning: "Port of the listener for GELF over UDP; 0 takes a free one. Needs `GELF_TOKEN`.",
    type: integer(0, 65_535),
  }),
  gelfHost: setting({
    name: "GELF_HOST",
    default: "127.0.0.1",
    meaning: "Where they listen; as for syslog, whoever reaches the ports writes logs.",
    type: hostName,
  }),
  gelfToken: setting({
    name: "GELF_TOKEN",
    meaning: "A token with the scope `logs:write`; its organisation owns what arrives.",
    secret: true,
    type: accessToken,
  }),
  gelfTlsCert: setting({
    name: "GELF_TLS_CERT",
    defaultText: "none: plain TCP",
    meaning: "As `SYSLOG_TLS_CERT`, for GELF over TCP.",
    type: path,
  }),
  gelfTlsKey: setting({
    name: "GELF_TLS_KEY",
    meaning: "File with the private key of that certificate in PEM.",
    type: path,
  }),
  forwardPort: setting({
    name: "FORWARD_PORT",
    defaultText: "off",
    meaning:
      "Port of the listener for Fluentd's forward protocol; 0 takes a free one. Needs `FORWARD_TOKEN`.",
    type: integer(0, 65_535),
  }),
  forwardHost: setting({
    name: "FORWARD_HOST",
    default: "127.0.0.1",
    meaning: "Where it listens. Without `FORWARD_SHARED_KEY` whoever reaches the port writes logs.",
    type: hostName,
  }),
  forwardToken: setting({
    name: "FORWARD_TOKEN",
    meaning: "A token with the scope `logs:write`; its organisation owns what arrives.",
    secret: true,
    type: accessToken,
  }),
  forwardTlsCert: setting({
    name: "FORWARD_TLS_CERT",
    defaultText: "none: plain TCP",
    meaning: "As `SYSLOG_TLS_CERT`, for the forward protocol.",
    type: path,
  }),
  forwardTlsKey: setting({
    name: "FORWARD_TLS_KEY",
    meaning: "File with the private key of that certificate in PEM.",
    type: path,
  }),
  forwardSharedKey: setting({
    name: "FORWARD_SHARED_KEY",
    defaultText: "none: no handshake",
    meaning: "The `shared_key` that senders must prove to know before anything of theirs is taken.",
    secret: true,
    type: sharedKey,
  }),
};
