import { mannerFields } from "../../model/content/manner.ts";
import { destinations, ownNumber, quotedId } from "../../model/fields.ts";

/** What every send takes, whatever it sends. */
export const sendFields = {
  sender: ownNumber(),
  number: destinations(),
  quote: quotedId().meta({
    id: "Quote",
    description:
      "Id of a message of that chat to quote; a destination that does not know it gets the message unquoted, and its result says `quoted: false`",
  }),
  msgid: quotedId().meta({ description: "The same as `quote`" }),
  ...mannerFields,
};
