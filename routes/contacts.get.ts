import { defineApi } from "../src/api/define-api.ts";
import { listContacts } from "../src/api/endpoints/contacts.ts";
import { contactsOf } from "../src/api/work/contacts.ts";

/** `GET /contacts`. */
export default defineApi(listContacts, contactsOf);
