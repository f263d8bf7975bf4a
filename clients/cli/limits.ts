/** The bounds of the command line. Wire limits repeat what the API documents; the others say what they protect. */

/** Entries of one ingest request. */
export const BATCH_MAX_ENTRIES = 500;
/** Bytes of one ingest request: below the 1 MiB that reverse proxies commonly accept without being configured. */
export const BATCH_MAX_BYTES = 1_000_000;
/** Code points of a message. */
export const MESSAGE_MAX_CHARS = 8192;
export const SERVICE_MAX_CHARS = 255;
export const SOURCE_MAX_CHARS = 255;
export const HOST_MAX_CHARS = 255;
export const EVENT_ID_MAX_CHARS = 128;
export const ATTRIBUTES_MAX_COUNT = 256;
export const ATTRIBUTE_KEY_MAX_CHARS = 255;
export const ATTRIBUTE_VALUE_MAX_BYTES = 64 * 1024;
/** Levels of arrays and objects in an entry's attributes: two below what the server takes for the whole body. */
export const ATTRIBUTES_MAX_DEPTH = 30;

/** Bytes of a line that is looked at as a whole, hence of the largest entry on one line. Longer lines are text. */
export const LINE_MAX_BYTES = 512 * 1024;
/** Bytes of one read from a file: few system calls, little memory. */
export const READ_BYTES = 1024 * 1024;
/** The longest UTF-8 form of a code point. */
export const CODE_POINT_MAX_BYTES = 4;
/** How long an incomplete batch waits for more input from a pipe before it is sent. */
export const LINGER_MS = 200;
/** How long, behind that, the last entry waits for lines that belong to it: a program writes a stack at once. */
export const JOIN_WAIT_MS = 800;
/** A session that rests takes the present for the newest time of its lines when the one it has is so old. */
export const YEAR_REFERENCE_MAX_AGE_MS = 3_600_000;

/** Requests in flight: enough to hide a round trip; each holds at most one batch in memory. */
export const CONCURRENCY_DEFAULT = 4;
export const CONCURRENCY_MAX = 32;
/** How long one batch is tried before the command gives up. */
export const GIVE_UP_DEFAULT_SEC = 300;
/**
 * Upper bound of that time. The server recognises a repeated entry for ten minutes, and a batch whose answer was lost
 * may be sent again only while it does.
 */
export const GIVE_UP_MAX_SEC = 540;
/** The first contact fails faster: a wrong address should not take minutes to be noticed. */
export const FIRST_CONTACT_MAX_MS = 10_000;
/** From one word about a server that stays away to the next; a restart is over before the first. */
export const STALL_NOTICE_MS = 15_000;
/** After an interrupt: how long requests on their way may take to end properly. */
export const DRAIN_MS = 5_000;

/** Acknowledged batches after which the resume file is written, and the time after which it is written anyway. */
export const RECORD_EVERY_BATCHES = 16;
export const RECORD_EVERY_MS = 250;
/** Bytes at the beginning of a file and before the resume offset by which the file is recognised. */
export const FINGERPRINT_BYTES = 1024;
/** Resume files untouched for this long are removed: their files have rotated away. */
export const RESUME_MAX_AGE_MS = 90 * 24 * 3600 * 1000;

/** Bytes at the beginning of a file by which text is told from what is none. */
export const SNIFF_BYTES = 64 * 1024;
/** The share of bytes in them that no text has, above which a file is none: what perl's -B takes for binary. */
export const BINARY_SHARE = 0.3;
/** Files that one command ships, so that a pattern over a whole disk is noticed. */
export const FILES_MAX = 10_000;
/** Files that are followed at a time: each holds a buffer of 1.5 MiB. */
export const FOLLOW_FILES_MAX = 100;
/** How often a followed file at its end is looked at, and the folders of patterns for new files. */
export const FOLLOW_POLL_MS = 250;
export const FOLLOW_RESCAN_MS = 1_000;
/** How long a file that was renamed or removed stays quiet before it is taken for finished. */
export const FOLLOW_DRAIN_MS = 5_000;
/** Levels, services and sources that are told apart when it is said what was shipped. */
export const FINDINGS_VALUES_MAX = 1000;
/** How many of them are named. */
export const FINDINGS_SHOWN_MAX = 5;
/** Entries that --dry-run shows. */
export const DRY_RUN_ENTRIES = 10;

/** Entries of one search page. */
export const SEARCH_PAGE_MAX = 1000;
export const SEARCH_LIMIT_DEFAULT = 100;

/** A stream is broken when this passes without a byte: the server says something every five seconds, so three times. */
export const TAIL_SILENCE_MS = 15_000;
/** A stream that lasted this long was a good one: the waits before the next attempts begin small again. */
export const TAIL_STABLE_MS = 5_000;
/** The ids of the entries shown last, by which one that comes twice after a break is recognised. */
export const TAIL_RECENT_IDS = 16_384;
/** The longest that a server may ask a tail to wait. */
export const TAIL_ASKED_WAIT_MAX_MS = 60_000;
/** Characters of attributes shown behind a message; --json shows all of them. */
export const ATTRIBUTES_SHOWN_MAX_CHARS = 2_000;

/** Bytes of a query read from standard input: a log file piped in by mistake is not read whole. */
export const QUERY_MAX_BYTES = 1024 * 1024;
/** A query may take as long as a server can be told to let it, ten minutes; then the connection is dead. */
export const QUERY_TIMEOUT_MS = 660_000;

/** Characters of a password that is there already, and of one that is chosen. */
export const PASSWORD_MAX_CHARS = 256;
export const NEW_PASSWORD_MIN_CHARS = 12;
export const NEW_PASSWORD_MAX_CHARS = 128;
/** How often a new password may be typed twice in different ways. */
export const PASSWORD_ATTEMPTS_MAX = 3;
/** How long a token of `obs login` is good, and how long before its end that is said. */
export const LOGIN_TOKEN_DAYS = 90;
export const TOKEN_END_NOTICE_MS = 7 * 24 * 3600 * 1000;
/** Characters shown of the line of a query that is wrong. */
export const QUERY_LINE_SHOWN_MAX_CHARS = 100;

/** To how many columns the cells of a table are filled up where nothing is cut: one long message must not widen every row. */
export const CELL_PADDED_MAX_COLUMNS = 60;
/** A text is cut to no less than this; where that does not fit, rows are written one below the other. */
export const CELL_SHRUNK_MIN_COLUMNS = 8;

/** Bars and series of a chart: more of them are read in a table. */
export const CHART_BARS_MAX = 50;
export const CHART_SERIES_MAX = 20;
/** Columns of what has to have a width where nothing limits it. */
export const WIDTH_DEFAULT_COLUMNS = 80;

/** How long a probe goes on and keeps results while the server is away. */
export const PROBE_ALONE_MAX_MS = 600_000;
/** The same for one result. */
export const PROBE_RESULTS_KEPT_MS = 600_000;
/** Results of one call of a probe; the server takes no more. */
export const PROBE_RESULTS_MAX = 500;
/** How often a probe hands in what it found: a round waits for it. */
export const PROBE_SEND_EVERY_MS = 200;
/** A stream for probes that says nothing for so long is broken: it is told the time every two seconds. */
export const PROBE_SILENCE_MS = 15_000;

/** Completions that a terminal lists: more than a screen helps nobody. */
export const COMPLETIONS_SHOWN_MAX = 60;

/** Characters of a message of `obs mcp`: what the server takes. */
export const MCP_MESSAGE_MAX_CHARS = 1024 * 1024;
/** Messages of it that are answered at a time; a model asks for a handful. */
export const MCP_REQUESTS_MAX = 16;

/** Values of a YAML file, those counted that aliases repeat: far more than any file has that somebody wrote, and a second's work. */
export const YAML_MAX_NODES = 200_000;
/** Levels of a YAML file; records have a handful. */
export const YAML_MAX_DEPTH = 32;
/** Bytes of a file of configuration. */
export const CONFIG_FILE_MAX_BYTES = 1024 * 1024;
/** Files of configuration of a folder: as many as the records that they may describe. */
export const CONFIG_FILES_MAX = 5_000;
/** Folders in folders of configuration; a link to a folder above is none of them. */
export const CONFIG_FOLDERS_MAX_DEPTH = 16;
/** Bytes of a file that holds a secret: a key with its certificates is a few KiB. */
export const SECRET_FILE_MAX_BYTES = 64 * 1024;

/** Rows of a table of Uptime Kuma: more than records that files may describe. */
export const KUMA_ROWS_MAX = 20_000;
/** An export of Grafana OnCall. */
export const ONCALL_ANSWER_MAX_BYTES = 64 * 1024 * 1024;
/** Pages of one list of its API, of fifty each. */
export const ONCALL_PAGES_MAX = 200;
/** One answer of it. */
export const ONCALL_TIMEOUT_MS = 60_000;
/** Bytes of Sigma rules that are asked about at once, and documents: below what the server takes. */
export const SIGMA_BATCH_MAX_BYTES = 1_900_000;
export const SIGMA_BATCH_MAX_DOCUMENTS = 500;
/** Characters of a query that files may say; the import itself takes longer ones. */
export const RULE_QUERY_MAX_CHARS = 2048;
/** Incidents of one page. */
export const INCIDENTS_PAGE = 100;
