import { HEADER_FIELDS } from "./cef-header.ts";
import { CefKeyTable } from "./cef-key-table.ts";

/** How a value is stored: as text, or as a JSON number where it is one. */
export type CefKind = "text" | "integer" | "float";

/** What a key says beside being an attribute. */
export type CefRole =
  | "none"
  | "message"
  | "receiptTime"
  | "endTime"
  | "startTime"
  | "deviceHost"
  | "deviceAddress";

export interface CefKey {
  /** The readable name, and its UTF-8. */
  readonly name: string;
  readonly nameBytes: Uint8Array;
  readonly kind: CefKind;
  readonly role: CefRole;
  /** The number of a custom field, whose name its sender gives in a second key; -1 for all others. */
  readonly custom: number;
  /** The number of the custom field that this key names; -1 for all others. */
  readonly labels: number;
}

/**
 * The keys of the producer and the consumer dictionary, `key=readable name`. Keys that are readable and hold text are
 * left out. Source: "ArcSight Common Event Format (CEF) Implementation Standard", version 26; obvious misprints of its
 * tables are corrected, and both spellings are read.
 */
const TEXT_KEYS = `
  act=deviceAction agt=agentAddress ahost=agentHostName aid=agentId amac=agentMacAddress app=applicationProtocol
  art=agentReceiptTime at=agentType atz=agentTimeZone av=agentVersion cat=deviceEventCategory
  catdt=categoryDeviceType dhost=destinationHostName dmac=destinationMacAddress dntdom=destinationNtDomain
  dpriv=destinationUserPrivileges dproc=destinationProcessName dst=destinationAddress dtz=deviceTimeZone
  duid=destinationUserId duser=destinationUserName dvc=deviceAddress dvchost=deviceHostName
  dvcmac=deviceMacAddress end=endTime fname=fileName msg=message outcome=eventOutcome proto=transportProtocol
  request=requestUrl rt=deviceReceiptTime shost=sourceHostName smac=sourceMacAddress sntdom=sourceNtDomain
  spriv=sourceUserPrivileges sproc=sourceProcessName src=sourceAddress start=startTime suid=sourceUserId
  suser=sourceUserName sourceTranslated=sourceTranslatedAddress DeviceOutboundInterface=deviceOutboundInterface
  DevicePayloadId=devicePayloadId filename=fileName Reason=reason`;

const INTEGER_KEYS = `
  agentTranslatedZoneKey agentZoneKey cnt=baseEventCount customerKey destinationTranslatedPort
  destinationTranslatedZoneKey destinationZoneKey deviceDirection deviceTranslatedZoneKey deviceZoneKey
  dTranslatedZoneKey=destinationTranslatedZoneKey dZoneKey=destinationZoneKey dpid=destinationProcessId
  dpt=destinationPort dvcpid=deviceProcessId eventId fsize=fileSize in=bytesIn oldFileSize out=bytesOut
  reportedDuration sTranslatedZoneKey=sourceTranslatedZoneKey sZoneKey=sourceZoneKey sourceTranslatedPort
  sourceTranslatedZoneKey sourceZoneKey spid=sourceProcessId spt=sourcePort type`;

const FLOAT_KEYS = `
  dlat=destinationGeoLatitude dlong=destinationGeoLongitude slat=sourceGeoLatitude slong=sourceGeoLongitude
  agentlat=agentGeoLatitude agentlong=agentGeoLongitude`;

/** Custom fields: key, readable name, how many there are, kind. */
const CUSTOM_KEYS: readonly (readonly [string, string, number, CefKind])[] = [
  ["cs", "deviceCustomString", 6, "text"],
  ["cn", "deviceCustomNumber", 3, "integer"],
  ["cfp", "deviceCustomFloatingPoint", 4, "float"],
  ["c6a", "deviceCustomIPv6Address", 4, "text"],
  ["deviceCustomDate", "deviceCustomDate", 2, "text"],
  ["flexString", "flexString", 2, "text"],
  ["flexNumber", "flexNumber", 2, "integer"],
  ["flexDate", "flexDate", 1, "text"],
];

const ROLES: ReadonlyMap<string, CefRole> = new Map([
  ["message", "message"],
  ["deviceReceiptTime", "receiptTime"],
  ["endTime", "endTime"],
  ["startTime", "startTime"],
  ["deviceHostName", "deviceHost"],
  ["deviceAddress", "deviceAddress"],
]);

const encoder = new TextEncoder();
const keys = new Map<string, CefKey>();
addKeys(TEXT_KEYS, "text");
addKeys(INTEGER_KEYS, "integer");
addKeys(FLOAT_KEYS, "float");
// A key of the extension that is called like a field of the header gets `extension.` in front.
for (const name of HEADER_FIELDS) keys.set(name, plainKey(`extension.${name}`, "text"));
export const CUSTOM_COUNT = addCustomKeys();

/** The keys of the dictionaries, of the custom fields, and those that are called like a field of the header. */
export const CEF_KEYS: CefKeyTable<CefKey> = new CefKeyTable([...keys]);

/** Every name that a key or a field of the header becomes: no custom field may take it. */
export const TAKEN_NAMES: CefKeyTable<true> = new CefKeyTable(
  [...new Set([...[...keys.values()].map(({ name }) => name), ...HEADER_FIELDS])].map((name) => [name, true]),
);

function addKeys(list: string, kind: CefKind): void {
  for (const pair of list.trim().split(/\s+/)) {
    const [key = "", name = key] = pair.split("=");
    // The readable name is a key, too.
    for (const spelled of [key, name]) keys.set(spelled, plainKey(name, kind));
  }
}

function plainKey(name: string, kind: CefKind): CefKey {
  return cefKey(name, kind, -1, -1);
}

function cefKey(name: string, kind: CefKind, custom: number, labels: number): CefKey {
  return { name, nameBytes: encoder.encode(name), kind, role: ROLES.get(name) ?? "none", custom, labels };
}

function addCustomKeys(): number {
  let custom = 0;
  for (const [key, name, count, kind] of CUSTOM_KEYS) {
    for (let number = 1; number <= count; number++, custom++) {
      const full = `${name}${number}`;
      const value = cefKey(full, kind, custom, -1);
      const label = cefKey(`${full}Label`, "text", -1, custom);
      const shortKey = `${key}${number}`;
      for (const spelled of [shortKey, full, shortKey.toUpperCase(), shortKey.replace("c6a", "C6a")]) {
        keys.set(spelled, value);
        keys.set(`${spelled}Label`, label);
      }
    }
  }
  return custom;
}
