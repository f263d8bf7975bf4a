import { NulFrames, RelayedGelf } from "../../../../../ingest/index.ts";
import type { MessageProtocol } from "../listeners/message-listeners.ts";
import { GelfDatagrams } from "./datagrams.ts";
import { MESSAGE_MAX_BYTES } from "./limits.ts";

/** GELF over TCP, a message up to each zero byte, and over UDP, whole or in chunks. */
export function gelfProtocol(monotonicMs: () => number): MessageProtocol {
  const datagrams = new GelfDatagrams(monotonicMs);
  return {
    name: "gelf",
    tokenSetting: "GELF_TOKEN",
    decoder: new RelayedGelf(),
    frames: () => new NulFrames({ maxFrameBytes: MESSAGE_MAX_BYTES }),
    messageOf: (datagram, peer) => datagrams.read(datagram, peer),
  };
}
