import { Type } from "typebox";
import { LEVEL_NUMBERS, type Level } from "../../../ingest/index.ts";
import {
  CURSOR_MAX_CHARS,
  PAGE_DEFAULT_ENTRIES,
  PAGE_MAX_ENTRIES,
  SEARCH_TEXT_MAX_CHARS,
  SERVICE_MAX_CHARS,
} from "./limits.ts";

