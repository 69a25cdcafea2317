import { defineApi } from "../../../src/api/define-api.ts";
import { blockContact } from "../../../src/api/endpoints/contacts.ts";
import { block } from "../../../src/api/work/contacts.ts";

/** `PUT /contacts/{contact}/block`. */
export default defineApi(blockContact, block);
