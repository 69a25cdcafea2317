import { defineApi } from "../../../src/api/define-api.ts";
import { createLink } from "../../../src/api/endpoints/links.ts";
import { makeMagicLink } from "../../../src/api/access/links.ts";

/** `POST /devices/{number}/magic-link`: a customer links this number with it and sets its webhook. */
export default defineApi(createLink, (call) =>
  makeMagicLink(call, call.params["number"], call.input.minutes),
);
