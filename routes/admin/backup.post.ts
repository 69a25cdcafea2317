import { giveBackup } from "../../src/api/work/backup.ts";
import { defineApi } from "../../src/api/define-api.ts";
import { createBackup } from "../../src/api/endpoints/operator/backup.ts";

/** `POST /admin/backup`: changes nothing, and is no GET because making a copy is work that nobody should ask for by a link. */
export default defineApi(createBackup, ({ app }) => giveBackup(app));
