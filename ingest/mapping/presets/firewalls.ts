import type { Mapping } from "../mapping.ts";
import type { Preset } from "./preset.ts";

/** CEF names its fields itself, and the decoder of the format reads them; only the service is never said. */
function cefOf(service: string): Mapping {
  return { format: "cef", fields: { service: { const: service } } };
}

/** Security devices that send Common Event Format. */
export const FIREWALL_PRESETS: readonly Preset[] = [
  {
    // Source: Palo Alto Networks, PAN-OS CEF configuration guide (custom log formats: rt, deviceExternalId, cs1 Rule).
    name: "palo-alto-cef",
    title: "Palo Alto Networks firewalls",
    description: "PAN-OS with the vendor's custom log formats for CEF, through a forwarder that posts lines.",
    format: "cef",
    // The name of a message is no more than the log's type.
    mapping: {
      ...cefOf("pan-os"),
      messageTemplate: "{name} {deviceEventClassId} {deviceAction} {sourceAddress} -> {destinationAddress}",
    },
    sample:
      "CEF:0|Palo Alto Networks|PAN-OS|11.1.2|end|TRAFFIC|1|rt=Mar 04 2026 10:15:30 GMT " +
      "deviceExternalId=007200001056 dvchost=fw-1 src=192.0.2.14 dst=203.0.113.9 spt=49876 dpt=443 proto=tcp " +
      "act=deny app=ssl cs1Label=Rule cs1=block-untrusted cn1Label=SessionID cn1=118923",
    signs: [{ path: "deviceVendor", value: /^Palo Alto Networks$/ }],
  },
  {
    // Source: Fortinet, FortiOS log message reference, CEF support (FTNTFGT prefixed keys).
    name: "fortinet-cef",
    title: "Fortinet FortiGate",
    description:
      "FortiGate with config log syslogd setting, set format cef, through a forwarder that posts lines.",
    format: "cef",
    mapping: cefOf("fortigate"),
    sample:
      "<188>Mar  4 10:15:30 fw-2 CEF:0|Fortinet|Fortigate|v7.4.3|16384|utm:ips signature reset|7|" +
      "rt=1772619330123 deviceExternalId=FGT60F0000000001 dvchost=fw-2 FTNTFGTsubtype=ips src=203.0.113.9 " +
      "spt=36208 dst=192.0.2.30 dpt=80 proto=6 act=reset FTNTFGTattack=Example.Overflow msg=web: Example.Overflow",
    signs: [{ path: "deviceVendor", value: /^Fortinet$/ }],
  },
  {
    // Source: Check Point, Log Exporter (format cef: rt in milliseconds, severity words, origin, layer_name, rule_uid).
    name: "check-point-cef",
    title: "Check Point Log Exporter",
    description: "cp_log_export with format cef.",
    format: "cef",
    mapping: cefOf("check-point"),
    sample:
      "CEF:0|Check Point|VPN-1 & FireWall-1|Check Point|Log|Drop of telnet|High|act=Drop deviceDirection=0 " +
      "rt=1772619330000 src=203.0.113.9 spt=51544 dst=192.0.2.40 dpt=23 proto=6 " +
      "cs2Label=Rule Name cs2=cleanup ifname=eth0 origin=192.0.2.1",
    signs: [{ path: "deviceVendor", value: /^Check ?Point$/i }],
  },
  {
    // Source: ArcSight Common Event Format Implementation Standard, version 26.
    name: "cef",
    title: "CEF of any product",
    description: "Lines of Common Event Format, with or without a syslog header in front.",
    format: "cef",
    mapping: { format: "cef" },
    sample:
      "CEF:0|Example|Gateway|2.1|100|Sign-in refused|6|rt=1772619330123 dvchost=gw-1 suser=sam src=203.0.113.9 " +
      "outcome=failure reason=expired password",
    signs: ["deviceVendor"],
  },
];
