import { defineApi } from "../../../../../../../src/api/define-api.ts";
import { exportContact as endpoint } from "../../../../../../../src/api/endpoints/operator/contact-data.ts";
import { exportContact } from "../../../../../../../src/api/work/contact-data.ts";

/** `GET /admin/accounts/{id}/devices/{number}/contacts/{contact}` */
export default defineApi(endpoint, ({ app, params }) => exportContact(app, params));
