import { isPersonalAccessToken } from "../access/secret-token.ts";
import { setting } from "./setting.ts";
import { directory, hostName, integer, ValueProblem } from "./values.ts";

/** A personal access token by its form; whether it is valid is known only when it is used. */
function accessToken(text: string): string {
  if (!isPersonalAccessToken(text)) throw new ValueProblem("is not a personal access token");
  return text;
}

/** The settings of the listeners for syslog, GELF and the forward protocol. */
export const SYSLOG_SETTINGS = {
  syslogTcpPort: setting({
    name: "SYSLOG_TCP_PORT",
    default: null,
    defaultNote: "off",
    accepts: "0 to 65535",
    meaning: "Port of the listener for syslog over TCP; 0 takes a free one. Needs `SYSLOG_TOKEN`.",
    read: integer(0, 65_535),
  }),
  syslogUdpPort: setting({
    name: "SYSLOG_UDP_PORT",
    default: null,
    defaultNote: "off",
    accepts: "0 to 65535",
    meaning: "Port of the listener for syslog over UDP; 0 takes a free one. Needs `SYSLOG_TOKEN`.",
    read: integer(0, 65_535),
  }),
  syslogHost: setting({
    name: "SYSLOG_HOST",
    default: "127.0.0.1",
    accepts: "an address or a host name",
    meaning:
      "Where they listen. Syslog names no sender that could be checked: whoever reaches the ports writes logs, so " +
      "open them to trusted networks only.",
    read: hostName,
  }),
  syslogToken: setting({
    name: "SYSLOG_TOKEN",
    default: null,
    defaultNote: "none",
    accepts: "a personal access token",
    meaning:
      "A token with the scope `logs:write`; its organisation owns what arrives. When it is revoked, syslog is refused.",
    secret: true,
    read: accessToken,
  }),
  syslogTlsCert: setting({
    name: "SYSLOG_TLS_CERT",
    default: null,
    defaultNote: "none: plain TCP",
    accepts: "a path",
    meaning:
      "File with the certificate chain in PEM; with it the TCP listener speaks TLS. Read at the start.",
    read: directory,
  }),
  syslogTlsKey: setting({
    name: "SYSLOG_TLS_KEY",
    default: null,
    defaultNote: "none",
    accepts: "a path",
    meaning: "File with the private key of that certificate in PEM.",
    read: directory,
  }),
  gelfTcpPort: setting({
    name: "GELF_TCP_PORT",
    default: null,
    defaultNote: "off",
    accepts: "0 to 65535",
    meaning: "Port of the listener for GELF over TCP; 0 takes a free one. Needs `GELF_TOKEN`.",
    read: integer(0, 65_535),
  }),
  gelfUdpPort: setting({
    name: "GELF_UDP_PORT",
    default: null,
    defaultNote: "off",
    accepts: "0 to 65535",
    meaning: "Port of the listener for GELF over UDP; 0 takes a free one. Needs `GELF_TOKEN`.",
    read: integer(0, 65_535),
  }),
  gelfHost: setting({
    name: "GELF_HOST",
    default: "127.0.0.1",
    accepts: "an address or a host name",
    meaning: "Where they listen; as for syslog, whoever reaches the ports writes logs.",
    read: hostName,
  }),
  gelfToken: setting({
    name: "GELF_TOKEN",
    default: null,
    defaultNote: "none",
    accepts: "a personal access token",
    meaning: "A token with the scope `logs:write`; its organisation owns what arrives.",
    secret: true,
    read: accessToken,
  }),
  forwardPort: setting({
    name: "FORWARD_PORT",
    default: null,
    defaultNote: "off",
    accepts: "0 to 65535",
    meaning:
      "Port of the listener for Fluentd's forward protocol; 0 takes a free one. Needs `FORWARD_TOKEN`.",
    read: integer(0, 65_535),
  }),
  forwardHost: setting({
    name: "FORWARD_HOST",
    default: "127.0.0.1",
    accepts: "an address or a host name",
    meaning: "Where it listens. Without `FORWARD_SHARED_KEY` whoever reaches the port writes logs.",
    read: hostName,
  }),
  forwardToken: setting({
    name: "FORWARD_TOKEN",
    default: null,
    defaultNote: "none",
    accepts: "a personal access token",
    meaning: "A token with the scope `logs:write`; its organisation owns what arrives.",
    secret: true,
    read: accessToken,
  }),
  forwardSharedKey: setting({
    name: "FORWARD_SHARED_KEY",
    default: null,
    defaultNote: "none: no handshake",
    accepts: "a text",
    meaning: "The `shared_key` that senders must prove to know before anything of theirs is taken.",
    secret: true,
    read: (text) => text,
  }),
};
