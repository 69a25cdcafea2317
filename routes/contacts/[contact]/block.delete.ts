import { defineApi } from "../../../src/api/define-api.ts";
import { unblockContact } from "../../../src/api/endpoints/contacts.ts";
import { unblock } from "../../../src/api/work/contacts.ts";

/** `DELETE /contacts/{contact}/block`. */
export default defineApi(unblockContact, unblock);
