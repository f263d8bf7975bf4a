import { StreamFrames, SyslogDecoder } from "../../../../../ingest/index.ts";
import type { MessageProtocol } from "../listeners/message-listeners.ts";
import { MESSAGE_MAX_BYTES } from "./limits.ts";

/** Syslog over TCP (RFC 6587), TLS (RFC 5425) and UDP (RFC 5426), where a datagram is a message. */
export function syslogProtocol(now: () => number): MessageProtocol {
  return {
    name: "syslog",
    tokenSetting: "SYSLOG_TOKEN",
    decoder: new SyslogDecoder({ now }),
    frames: () => new StreamFrames({ maxFrameBytes: MESSAGE_MAX_BYTES }),
    messageOf: (datagram) => datagram,
  };
}
