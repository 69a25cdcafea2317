import { defineApi } from "../src/api/define-api.ts";
import { createLink } from "../src/api/endpoints/links.ts";
import { findOrRegister } from "../src/api/link.ts";
import { makeLink, makerOf } from "../src/api/links.ts";

/** `POST /links`: for one number, registered when it is new. */
export default defineApi(createLink, async (call) => {
  const { app, caller, input } = call;
  const device = await findOrRegister(app, caller, input.device);
  return makeLink(app, device, input.minutes, makerOf(call));
});
