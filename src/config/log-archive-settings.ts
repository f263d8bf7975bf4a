import { setting } from "./setting.ts";
import { accessKey, bucketUrl, day, directory, integer } from "./values.ts";

/** The settings of hot retention and of the archive. */
export const LOG_ARCHIVE_SETTINGS = {
  logRetentionDays: setting({
    name: "LOG_RETENTION_DAYS",
    default: "30",
    accepts: "0 to 36500",
    meaning:
      "Days after which log entries move from the log store to the archive, of organisations that have set none; 0 is never.",
    read: integer(0, 36_500),
  }),
  archiveRetentionDays: setting({
    name: "ARCHIVE_RETENTION_DAYS",
    default: "0",
    accepts: "0 to 36500",
    meaning: "Days after which archived log entries are deleted; 0 keeps them for ever.",
    read: integer(0, 36_500),
  }),
  archiveClockConfirmedMs: setting({
    name: "ARCHIVE_CLOCK_CONFIRMED_ON",
    default: null,
    defaultNote: "none",
    accepts: "a day, `YYYY-MM-DD`",
    meaning:
      "A day that has come, after the machine was off for long: without it log entries age only by time that is known to have passed.",
    read: day,
  }),
  archiveDirectory: setting({
    name: "ARCHIVE_DIRECTORY",
    default: null,
    defaultNote: "`archive` in the data directory; with `CLICKHOUSE_URL` nothing is archived",
    accepts: "a path",
    meaning:
      "Where archived log entries lie. With `CLICKHOUSE_URL`, ClickHouse and every instance have to see it under this path.",
    read: directory,
  }),
  archiveS3Url: setting({
    name: "ARCHIVE_S3_URL",
    default: null,
    defaultNote: "none: a directory",
    accepts: "`https://HOST/BUCKET/` or `https://HOST/BUCKET/PREFIX/`",
    meaning: "The bucket of archived log entries, instead of a directory.",
    read: bucketUrl,
  }),
  archiveS3AccessKeyId: setting({
    name: "ARCHIVE_S3_ACCESS_KEY_ID",
    default: null,
    defaultNote: "none",
    accepts: "1 to 256 visible characters",
    meaning: "The id of the bucket's key.",
    read: accessKey,
  }),
  archiveS3SecretAccessKey: setting({
    name: "ARCHIVE_S3_SECRET_ACCESS_KEY",
    default: null,
    defaultNote: "none",
    accepts: "1 to 256 visible characters",
    meaning: "The bucket's key.",
    secret: true,
    read: accessKey,
  }),
} as const;
