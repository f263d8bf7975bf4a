/** Words that mean the same in the logs of every program, so that no program needs rules of its own. */

/** What comes after a number and measures it, as in `20 ms`. */
export const UNIT_WORDS = words(`
  b byte bytes kb mb gb tb pb kib mib gib tib pib bit bits kbit mbit gbit kbps mbps gbps bps
  ns us ms s sec secs second seconds msec msecs usec usecs nsec millis millisecond milliseconds microseconds nanoseconds
  m min mins minute minutes h hr hrs hour hours h d day days
  hz khz mhz ghz
`);

/** What comes after a time of day. */
export const ZONE_WORDS = words("am pm utc gmt est edt cst cdt mst mdt pst pdt cet cest bst ist jst");

/** Days and months; capitalised, since `may` and `sun` are words as well. */
export const CALENDAR_WORDS = words(`
  Mon Tue Wed Thu Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday
  Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec
  January February March April June July August September October November December
`);

/** Last labels of host names. */
export const HOST_SUFFIXES = words(
  "com net org edu gov mil int info biz local localdomain internal lan arpa",
);

/** Kinds of things that have names: the word behind one of these is a name sooner than another word is. */
export const ENTITY_WORDS = words("user username account login host hostname server node client peer");

/** Words that stand for no thing: a message that differs in one of them says something else. */
export const FUNCTION_WORDS = words(`
  a an the and or not no nor but if of on off in out to from by for with without at as is are was were be been has have had
  this that it its into onto over under up down all any some true false null nil none undefined unknown yes
`);

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
