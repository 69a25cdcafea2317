import { IqError } from "../iq-error.ts";
import { element } from "../../wire/nodes.ts";
import type { IqHandler } from "./handler.ts";

/** Profiles: nobody here has a picture, a status text or a business profile. */
export const profileHandlers: IqHandler[] = [
  {
    xmlns: "w:profile:picture",
    type: "get",
    answer() {
      throw new IqError(404, "item-not-found");
    },
  },
  { xmlns: "status", type: "set", answer: () => [] },
  {
    xmlns: "w:biz",
    type: "get",
    child: "business_profile",
    answer: () => [element("business_profile", {}, [])],
  },
  { xmlns: "disappearing_mode", type: "set", answer: () => [] },
];
