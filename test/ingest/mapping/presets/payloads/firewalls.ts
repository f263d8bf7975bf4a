import type { Payload } from "./payload.ts";

const RIGHT = { timestamp: "rt", message: "msg", level: "severity", service: "", host: "dvchost" };

export const FIREWALL_PAYLOADS: readonly Payload[] = [
  {
    preset: "palo-alto-cef",
    body:
      "CEF:0|Palo Alto Networks|PAN-OS|10.2.8|spyware|THREAT|4|rt=May 11 2026 21:59:58 GMT deviceExternalId=0072 " +
      "dvchost=fw-9 src=192.0.2.60 dst=198.51.100.66 spt=50122 dpt=80 act=reset-both app=web-browsing " +
      "cs1Label=Rule cs1=outbound web request=example.com/a\\=b\n",
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "THREAT spyware reset-both 192.0.2.60 -> 198.51.100.66",
      level: "warn",
      service: "pan-os",
      source: "Palo Alto Networks PAN-OS",
      host: "fw-9",
      attrs: {
        deviceAction: "reset-both",
        Rule: "outbound web",
        destinationPort: 80,
        requestUrl: "example.com/a=b",
      },
    },
    right: RIGHT,
  },
  {
    preset: "fortinet-cef",
    body:
      "<189>May 11 23:59:58 fw-2 CEF:0|Fortinet|Fortigate|v7.4.3|00013|traffic:forward close|3|rt=1778536798006 " +
      "deviceExternalId=FGT60F2 dvchost=branch-7 FTNTFGTsubtype=forward src=192.0.2.60 dst=198.51.100.66 dpt=443 act=close",
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "traffic:forward close",
      level: "info",
      service: "fortigate",
      source: "Fortinet Fortigate",
      host: "branch-7",
      attrs: { FTNTFGTsubtype: "forward", deviceAction: "close", destinationAddress: "198.51.100.66" },
    },
    right: RIGHT,
  },
  {
    preset: "check-point-cef",
    body:
      "CEF:0|Check Point|VPN-1 & FireWall-1|Check Point|Log|https|Very-High|act=Accept rt=1778536798000 " +
      "src=192.0.2.60 dst=198.51.100.66 dpt=443 cs2Label=Rule Name cs2=web out msg=allowed by rule 7",
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "allowed by rule 7",
      level: "fatal",
      service: "check-point",
      source: "Check Point VPN-1 & FireWall-1",
      attrs: { "Rule Name": "web out", deviceAction: "Accept" },
    },
    right: RIGHT,
  },
  {
    preset: "cef",
    body: "CEF:0|Example \\| Sons|Proxy|1|7|Upload blocked|8|rt=1778536798006 dvchost=px-1 suser=lee fsize=5000000",
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "Upload blocked",
      level: "error",
      source: "Example | Sons Proxy",
      host: "px-1",
      attrs: { sourceUserName: "lee", fileSize: 5000000 },
    },
    right: RIGHT,
  },
];
