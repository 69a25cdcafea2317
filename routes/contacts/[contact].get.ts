import { defineApi } from "../../src/api/define-api.ts";
import { getContact } from "../../src/api/endpoints/contacts.ts";
import { contactOf } from "../../src/api/work/contacts.ts";

/** `GET /contacts/{contact}`. */
export default defineApi(getContact, contactOf);
