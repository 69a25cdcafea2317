import { z } from "zod";
import { text } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { answer, listOf, record } from "../schemas/answer.ts";
import { listedSession, newSession, session, sessionFields } from "../schemas/sessions.ts";

const signedIn = { by: "session" } as const;
const keyOrOperator = { by: "key or operator" } as const;
const nothing = z.object({});

/** `POST /console/session`: the answer sets the cookie. */
export const createSession = endpoint({
  method: "POST",
  path: "/console/session",
  access: { by: "everybody" },
  summary: "Sign in with an API key, the operator's token, or a link",
  message: "Signed in.",
  errors: [
    "INVALID_API_KEY",
    "INVALID_ADMIN_TOKEN",
    "LINK_EXPIRED",
    "ACCOUNT_DISABLED",
    "CSRF_TOKEN_INVALID",
    "RATE_LIMITED",
  ],
  input: newSession,
  output: record(session, sessionFields),
});

/** `GET /console/sessions`: of whoever has the same key; links see none. */
export const listSessions = endpoint({
  method: "GET",
  path: "/console/sessions",
  access: keyOrOperator,
  summary: "Sessions of the same key, or of the operator; last used first",
  bounded: "a key has at most fifty sessions; one more ends the session that has been unused longest.",
  message: "Sessions.",
  input: nothing,
  output: listOf(listedSession),
});

/** `DELETE /console/sessions/{id}`: of those that `GET /console/sessions` lists. */
export const deleteSession = endpoint({
  method: "DELETE",
  path: "/console/sessions/{id}",
  access: keyOrOperator,
  summary: "End a session, at once",
  message: "Session ended.",
  input: nothing,
  output: answer({}),
});

export const getCurrentSession = endpoint({
  method: "GET",
  path: "/console/session",
  access: signedIn,
  summary: "The session of this cookie",
  message: "Signed in.",
  input: nothing,
  output: record(session, sessionFields),
});

/** `DELETE /console/session`: the answer clears the cookie. */
export const deleteCurrentSession = endpoint({
  method: "DELETE",
  path: "/console/session",
  access: signedIn,
  summary: "Sign out",
  message: "Signed out.",
  input: nothing,
  output: answer({}),
});

/** `PUT /console/session/account`: of the operator. From then on endpoints of keys are those of this account. */
export const chooseAccount = endpoint({
  method: "PUT",
  path: "/console/session/account",
  access: signedIn,
  summary: "Choose the account that the operator works in; null: none",
  message: "Account chosen.",
  errors: ["PERMISSION_DENIED", "NOT_FOUND"],
  input: z.object({ account: text(1, 255).nullish() }),
  output: record(session, sessionFields),
});
