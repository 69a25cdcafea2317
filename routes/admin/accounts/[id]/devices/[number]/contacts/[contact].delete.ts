import { defineApi } from "../../../../../../../src/api/define-api.ts";
import { eraseContact as endpoint } from "../../../../../../../src/api/endpoints/operator/contact-data.ts";
import { eraseContact } from "../../../../../../../src/api/work/contact-data.ts";

/** `DELETE /admin/accounts/{id}/devices/{number}/contacts/{contact}` */
export default defineApi(endpoint, ({ app, params }) => eraseContact(app, params));
