/** Bounds of what organisations keep for their queries. */

/** Functions of one organisation: all of them are held while it asks. */
export const FUNCTIONS_MAX = 200;
export const FUNCTION_PARAMETERS_MAX_CHARS = 2048;
export const FUNCTION_BODY_MAX_CHARS = 8192;
/** Earlier versions of one function that are kept. */
export const FUNCTION_VERSIONS_MAX = 50;

/** Tables of one organisation. */
export const TABLES_MAX = 100;
/** Rows of one table: what a query joins with at no cost that anybody feels. */
export const TABLE_MAX_ROWS = 250_000;
export const TABLE_MAX_COLUMNS = 100;
/** Bytes of a file that becomes one, unpacked. */
export const TABLE_MAX_BYTES = 32 * 2 ** 20;
/** The same as it is sent, packed. */
export const TABLE_MAX_PACKED_BYTES = 16 * 2 ** 20;
export const CELL_MAX_CHARS = 65_536;
export const COLUMN_NAME_MAX_CHARS = 128;

/** How long what is known of an organisation's names is trusted: other instances may have changed them. */
export const NAMES_LIFE_MS = 1_000;
/** Organisations whose names are held. */
export const ORGANIZATIONS_MAX = 1_000;

/** How long a set of rows stays that no table has: queries under way read it, and an upload may be slow. */
export const UNUSED_ROWS_MS = 3_600_000;

/** Everything that fetching one file elsewhere may take. */
export const EXTERNAL_TIMEOUT_MS = 10_000;
export const EXTERNAL_MAX_REDIRECTS = 3;
/** How long a file elsewhere is taken for unchanged. */
export const EXTERNAL_LIFE_MS = 60_000;
/** Files elsewhere whose rows are known. */
export const EXTERNALS_MAX = 1_000;
/** Queries whose files are read at a time, which holds them in memory, and that wait for it. */
export const EXTERNALS_MAX_RUNNING = 3;
export const EXTERNALS_MAX_RUNNING_OF_ONE = 2;
export const EXTERNALS_MAX_WAITING = 30;
export const EXTERNALS_MAX_WAITING_OF_ONE = 10;
