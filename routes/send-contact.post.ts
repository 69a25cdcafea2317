import { defineApi } from "../src/api/define-api.ts";
import { sendContact } from "../src/api/endpoints/shared-content.ts";
import { sendCards } from "../src/api/work/shared-content.ts";

/** `POST /send-contact`: the cards of 1 to 10 people to 1 to 10 destinations. */
export default defineApi(sendContact, sendCards);
