import { setting } from "./setting.ts";
import { accessKey, bucketUrl, day, integer, path } from "./values.ts";

/** The settings of hot retention and of the archive. */
export const LOG_ARCHIVE_SETTINGS = {
  logRetentionDays: setting({
    name: "LOG_RETENTION_DAYS",
    default: "30",
    meaning:
      "Days after which log entries move from the log store to the archive, of organisations that have set none; 0 is never.",
    type: integer(0, 36_500),
  }),
  archiveRetentionDays: setting({
    name: "ARCHIVE_RETENTION_DAYS",
    default: "0",
    meaning: "Days after which archived log entries are deleted; 0 keeps them for ever.",
    type: integer(0, 36_500),
  }),
  archiveClockConfirmedMs: setting({
    name: "ARCHIVE_CLOCK_CONFIRMED_ON",
    meaning:
      "A day that has come, after the machine was off for long: without it log entries age only by time that is known to have passed.",
    type: day,
  }),
  archiveDirectory: setting({
    name: "ARCHIVE_DIRECTORY",
    defaultText: "`archive` in the data directory; with `CLICKHOUSE_URL` nothing is archived",
    meaning:
      "Where archived log entries lie. With `CLICKHOUSE_URL`, ClickHouse and every instance have to see it under this path.",
    type: path,
  }),
  archiveS3Url: setting({
    name: "ARCHIVE_S3_URL",
    defaultText: "none: a directory",
    meaning: "The bucket of archived log entries, instead of a directory.",
    type: bucketUrl,
  }),
  archiveS3AccessKeyId: setting({
    name: "ARCHIVE_S3_ACCESS_KEY_ID",
    meaning: "The id of the bucket's key.",
    type: accessKey,
  }),
  archiveS3SecretAccessKey: setting({
    name: "ARCHIVE_S3_SECRET_ACCESS_KEY",
    meaning: "The bucket's key.",
    secret: true,
    type: accessKey,
  }),
} as const;
