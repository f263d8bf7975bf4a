import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** A real name server on this machine that knows TXT records, and nothing else. */
export interface NameServer {
  /** What `setServers` takes. */
  readonly address: string;
  /** Name in lower case -> texts. */
  readonly records: Map<string, readonly string[]>;
  /** When false, questions are read and never answered. */
  answers: boolean;
  readonly stop: () => Promise<void>;
}

const HEADER_BYTES = 12;
const TYPE_TXT = 16;
const NAME_ERROR = 3;

export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket("udp4");
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  const { port }: AddressInfo = socket.address();
  const server: NameServer = {
    address: `127.0.0.1:${port}`,
    records: new Map(),
    answers: true,
    stop: () => new Promise((stopped) => socket.close(() => stopped())),
  };
  socket.on("message", (question, peer) => {
    if (server.answers) socket.send(answerTo(question, server.records), peer.port, peer.address);
  });
  return server;
}

/** RFC 1035 4.1: header, the question again, and an answer for each text, which points to the question's name. */
function answerTo(question: Buffer, records: ReadonlyMap<string, readonly string[]>): Buffer {
  const { name, end } = readName(question);
  const isTxt = question.readUInt16BE(end) === TYPE_TXT;
  const texts = records.get(name);
  const answers = isTxt ? (texts ?? []) : [];
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | (texts === undefined ? NAME_ERROR : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end + 4), ...answers.map(txtRecord)]);
}

function txtRecord(text: string): Buffer {
  const pieces = (text.match(/.{1,200}/gs) ?? [""]).map((piece) => Buffer.from(piece));
  const data = Buffer.concat(pieces.flatMap((piece) => [Buffer.from([piece.length]), piece]));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(TYPE_TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}
