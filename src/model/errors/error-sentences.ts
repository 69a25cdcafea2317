import type { ErrorCode } from "./errors.ts";

/** What a sentence may be made of: an error's code, and what stands beside it. */
interface Told {
  code: ErrorCode;
  [extra: string]: unknown;
}

const CLOSED: Record<string, string> = {
  not_member: "This number is not a member of the group.",
  only_admins: "Only admins may write in this group, and this number is not an admin.",
  not_channel_admin: "Only the owner and the admins of a channel may post in it.",
  community: "A community as a whole takes no messages; write to one of its groups.",
};

const SENTENCES: Record<ErrorCode, string | ((error: Told) => string)> = {
  INVALID_JSON: "The body is not a JSON object, or not UTF-8.",
  INVALID_PARAMETERS: ({ fields }) => inFields(fields) ?? "Some fields of the request are invalid.",
  INVALID_API_KEY: "The API key is missing, malformed, unknown, deleted or expired.",
  INVALID_ADMIN_TOKEN: "The operator's token is missing or wrong.",
  SESSION_EXPIRED: "You are not signed in, or your session has ended. Sign in again.",
  LINK_EXPIRED: "This link has expired or was withdrawn. Ask for a new one.",
  CSRF_TOKEN_INVALID: "The request did not come from the page you signed in to. Load the page again.",
  PERMISSION_DENIED: "This API key lacks the permission for this request.",
  ACCOUNT_DISABLED: "The operator has disabled this account.",
  PLAN_LIMIT: "The account has reached a limit of its plan.",
  RECIPIENT_NOT_ALLOWED: "This API key may not write to one of the destinations.",
  CANNOT_SEND: ({ reason }) => CLOSED[String(reason)] ?? "This number may not write to this chat.",
  SENDER_NOT_FOUND: "This API key has no such number.",
  NOT_FOUND: "Nothing was found under this path or id.",
  REQUEST_TIMEOUT: "The request did not arrive in full in time.",
  HEADERS_TOO_LARGE: "The headers of the request are too large.",
  METHOD_NOT_ALLOWED: "This path does not support this method.",
  SENDER_NOT_CONNECTED:
    "This number is not linked to a phone, so nothing was sent. Link it with POST /generate-qr.",
  WRONG_NUMBER: "Another number has scanned the code and was logged out.",
  NO_PASSKEY_REQUEST: "WhatsApp is not asking for this number's passkey now.",
  IDEMPOTENCY_IN_PROGRESS:
    "The first request with this idempotency key is still running; try again in a moment.",
  BODY_TOO_LARGE: "The body of the request is too large.",
  FILE_TOO_LARGE: "The file is larger than the gateway accepts.",
  UNSUPPORTED_CONTENT_TYPE: "The body is neither JSON nor a form.",
  FILE_UNREACHABLE: "The file could not be fetched.",
  FILE_NOT_USABLE: "The address did not answer with a file of the expected type.",
  URL_NOT_ALLOWED: "The address is private, or is neither http nor https.",
  NOT_ON_WHATSAPP: "This number is not on WhatsApp.",
  TOO_LATE: "The message is too old for that.",
  NOT_EDITABLE: "Only texts and captions of the number's own messages can be edited.",
  TIME_NOT_USABLE: "The time is over, or more than a year away.",
  IDEMPOTENCY_KEY_REUSED: "This idempotency key belongs to a request with another body.",
  RATE_LIMITED: "Too many requests in a minute; wait before the next one.",
  QUOTA_EXCEEDED: "The plan's sends for today are used up.",
  INTERNAL_ERROR: "The gateway failed; its log has the details.",
  WHATSAPP_REFUSED: ({ whatsapp_code: code }) =>
    code === undefined ? "WhatsApp refused the message." : `WhatsApp refused the message with error ${code}.`,
  REACHOUT_LOCKED: ({ until }) =>
    `WhatsApp does not let this number write to new contacts${
      until === undefined ? " for a while" : ` until ${until}`
    }; existing chats still work.`,
  UNAVAILABLE: "The gateway is restarting or cannot store anything now; try again in a moment.",
  CONVERTER_MISSING: "This file must be converted, and the gateway has no converter; ask its operator.",
  EXPIRED: "The message waited for too long, so it will not be sent.",
};

/** The first thing that is wrong with the fields, naming the field. */
function inFields(fields: unknown): string | null {
  const [first] = Object.entries((fields ?? {}) as Record<string, string[]>);
  return first?.[1][0] === undefined ? null : `${first[0]}: ${first[1][0]}`;
}

/** Why something failed, in one sentence for people: its own when it has one, else that of its code. */
export function errorSentence(error: Told): string {
  const { code, message } = error;
  if (typeof message === "string" && message !== "") return message;
  const sentence = SENTENCES[code];
  return typeof sentence === "string" ? sentence : sentence(error);
}

/** An error as answers show it: with its sentence, which stands right behind the code. */
export function withSentence<E extends Told>(error: E): E & { message: string } {
  const { code, message: _, ...beside } = error;
  return { code, message: errorSentence(error), ...beside } as unknown as E & { message: string };
}

/**
 * So many of something.
 *
 * @param many the plural, where it is not the singular with an s
 */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
