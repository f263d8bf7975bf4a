/**
 * How well a name says what a field holds, 0 to 1. Names are plain (see `plainName`); a name with a dot is that of the
 * last two keys. Those that loggers, shippers and the products of the presets use.
 */
type NameScores = ReadonlyMap<string, number>;

export const TIME_NAMES = scores([
  [1, "timestamp time ts @t t datetime eventtime timestamputc"],
  [
    0.95,
    "published timegenerated timecreated utctime timeiso8601 asctime edgestarttimestamp realtimetimestamp",
  ],
  [
    0.95,
    "timeunixnano unixtime startutc instant.epochsecond event-data.timestamp eventdatetime activitydatetime when",
  ],
  [
    0.9,
    "date createdat created starttime createddatetime requestreceivedtimestamp stagetimestamp eventdate rt",
  ],
  [
    0.85,
    "starttime startsat occurredat logtime logtimestamp sourcerealtimetimestamp deliveredat bouncedat start",
  ],
  [
    0.75,
    "timestampms observedtimeunixnano lasttimestamp receivetimestamp received receivedat eventreceivedtime",
  ],
  [
    0.65,
    "creationtime effectiveat startlocal timelocal unixtimestamp epoch edgeendtimestamp msec writets endtime",
  ],
  [0.3, "updatedat modified firsttimestamp creationtimestamp"],
  [0.05, "endsat expires expiresat exp notafter birthdate validuntil creationdate nbf iat"],
]);

export const MESSAGE_NAMES = scores([
  [1, "message msg @m m shortmessage syslogmessage textpayload displaymessage jsonpayload.message"],
  [0.9, "log text body logmessage rawmessage annotations.summary rule.description alert.signature mt"],
  [0.85, "output custommessage data.description resultdescription note summary description"],
  [0.75, "request fullmessage fulllog original event.original event details title reason subject"],
  [0.6, "operationname eventname methodname activity headcommit.message line"],
  [0.5, "action eventtype actiontype requesturi uri path url requestpath clientrequesturi recordtype type"],
  [0.4, "category ruleset name verb objectkind signature error errormessage"],
]);

export const LEVEL_NAMES = scores([
  [
    1,
    "level severity loglevel lvl levelname @l l log.level severitylevel severitytext eventlevelname event-data.loglevel",
  ],
  [
    0.9,
    "priority labels.severity eventlevel logseverity severitynumber levelno alert.severity severityvalue",
  ],
  [0.6, "levelvalue auditd.result rule.level type status outcome.result"],
  [0.55, "result outcome responsecode downstreamstatus edgeresponsestatus statuscode httpstatus resulttype"],
  [0.5, "responsestatus.code httprequest.status originstatus properties.result resultsignature"],
]);

export const SERVICE_NAMES = scores([
  [
    1,
    "service servicename service.name app application appname applicationname syslogidentifier labels.service",
  ],
  [
    0.95,
    "program programname labels.app eventsource kubernetes.containername containername resource.labels.servicename",
  ],
  [0.85, "processname appdisplayname clientname reportingcomponent source.component"],
  [
    0.8,
    "attrs.tag tag sourcename providername provider serverlabel backend repository.fullname project.pathwithnamespace",
  ],
  [0.7, "module loggedbyservice labels.job job clientid clientrequesthost authority servername"],
  [0.65, "name product request.host requesthost frontend facility comm"],
]);

export const HOST_NAMES = scores([
  [1, "host hostname host.name computer computername hostidentifier nodename kubernetes.host devname"],
  [
    0.9,
    "machinename machine host.hostname dvchost source.host node @system systemname labels.host decorations.hostname",
  ],
  [
    0.8,
    "server agent.name sysloghost instance labels.instance resource.labels.instanceid fqdn reportinginstance",
  ],
  [0.6, "pod podname origin instanceid devicehostname"],
]);

export const TRACE_NAMES = scores([[1, "traceid trace.id @tr tr xtraceid oteltraceid ddtraceid"]]);
export const SPAN_NAMES = scores([[1, "spanid span.id @sp sp otelspanid"]]);
export const EVENT_ID_NAMES = scores([
  [1, "eventid insertid logid uuid documentid sgeventid rayid eventdataid cursor messageuuid eventuuid"],
  [0.8, "id properties.id event-data.id"],
]);

/** Keys that say something only where they stand at the top, or with the key before them. */
const VAGUE_NAMES = new Set(
  "name type id status result title details category created start tag node server instance origin module date".split(
    " ",
  ),
);
/** Objects that only wrap the fields of a record; their names say nothing. */
const WRAPPERS = new Set(
  "data event eventdata properties fields payload jsonpayload protopayload record detail winlog source".split(
    " ",
  ),
);
const DEPTH_COST = 0.06;

/** Of a field by the plain names of its keys: that of the last two, or of the last one, less the deeper it lies. */
export function nameScore(known: NameScores, fullName: string): number {
  const keys = fullName.split(".");
  while (keys.length > 1 && WRAPPERS.has(keys[0] ?? "") && !known.has(keys.slice(-2).join("."))) keys.shift();
  const last = keys.at(-1) ?? "";
  const depth = DEPTH_COST * (keys.length - 1);
  const ofPair = keys.length > 1 ? (known.get(keys.slice(-2).join(".")) ?? 0) - depth / 6 : 0;
  const ofLast = keys.length > 1 && VAGUE_NAMES.has(last) ? 0 : (known.get(last) ?? 0) - depth;
  return Math.max(ofPair, ofLast, 0);
}

/** The first group that has a name counts. */
function scores(groups: readonly (readonly [number, string])[]): NameScores {
  const found = new Map<string, number>();
  for (const [score, names] of groups)
    for (const name of names.split(" ").map((text) => text.replace(/[@-]/g, "")))
      if (!found.has(name)) found.set(name, score);
  return found;
}
