import type { ErrorCode } from "../../model/errors/errors.ts";
import { text } from "../../model/fields.ts";

const LONGEST_URL = 8_192;

const isLink = (value: string): boolean => /^https?:\/\//i.test(value) && URL.canParse(value);
const WRONG = "Must be a complete http or https address.";

/** The address of a file. */
export const link = text(1, LONGEST_URL)
  .transform((value) => value.trim())
  .refine(isLink, WRONG)
  .meta({ description: "http or https; it must answer with the file itself" });

/** The address of a picture of a person or a group. */
export const pictureLink = text(0, LONGEST_URL)
  .transform((value) => value.trim())
  .refine((value) => value === "" || isLink(value), WRONG)
  .meta({
    id: "PictureUrl",
    description:
      "http or https; the middle of the picture becomes a square JPEG. Empty: takes the picture away",
  });

/** What fetching a file may be refused with. */
export const FETCH_ERRORS = [
  "FILE_TOO_LARGE",
  "FILE_UNREACHABLE",
  "FILE_NOT_USABLE",
  "URL_NOT_ALLOWED",
  "CONVERTER_MISSING",
] satisfies ErrorCode[];
